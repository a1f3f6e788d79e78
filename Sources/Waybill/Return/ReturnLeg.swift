internal import WaybillEventLoop
public import WaybillRouting

/// What became of a reply's value on its way to the return URL: the trace that a ``Reply`` keeps of it.
///
/// The leg begins when the handler has replied, so its end comes after the reply; who wants to know waits for it:
///
/// ```swift
/// let reply = try await bus.route("app://order/pay?total=42#home/receipt")
/// if case .failed(let error) = await reply.returnLeg?.outcome { print("the receipt is lost:", error) }
/// ```
///
/// A leg that fails is a dead letter too, and never a failure of the request that it belongs to.
public struct ReturnLeg: Sendable {
    let path: ReturnPath

    /// Where the value went, or would have gone if the handler had not declined it.
    public var url: String { self.path.url }

    /// The ID that the message on the return URL carries: that of the request, as the reply has it.
    public var correlationID: CorrelationID { self.path.correlationID }

    /// What became of the value.
    @nonexhaustive
    public enum Outcome: Sendable {
        /// Nothing yet.
        case underway
        /// The handler of the return URL took it and returned.
        case delivered
        /// It is a dead letter, with the reason.
        case failed(RoutingError)
        /// The handler of the request did not want it to be sent.
        case declined
    }

    /// What has become of the value so far.
    public var current: Outcome { self.path.outcome }

    /// What became of the value in the end.
    ///
    /// The caller waits where it is isolated, until the handler of the return URL is done. A return URL of that URL is a
    /// leg of its own, and not waited for. Who is cancelled gets ``Outcome/underway``.
    public var outcome: Outcome {
        get async {
            await EventLoop.yieldIfDue()
            guard case .underway = self.current else { return self.current }
            return await self.path.end()
        }
    }
}

extension ReturnPath {
    fileprivate nonisolated(nonsending) func end() async -> ReturnLeg.Outcome {
        let number = self.nextNumber()
        let waiter = Waiter(on: .current)
        return await waiter.wait(isolation: #isolation) {
            self.wait(number, waiter)
        } onCancel: {
            self.giveUp(number)
        }
    }
}
