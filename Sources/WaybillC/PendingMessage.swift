internal import Synchronization
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// A message that a C program (the host) receives.
///
/// The host's `waybill_message` is an opaque pointer to this object. A handler's message is completed once:
/// when the host replies or reports a failure, or when the caller is cancelled. A later reply or failure has
/// no effect.
final class PendingMessage: Sendable {
    let url: CText
    let parameters: CText
    let payload: CText?
    /// The reply for which the caller waits; nil for a message to a subscriber.
    private let reply: Reply?

    private typealias Outcome = Result<JSONText, any Error>

    /// The failure of a message, with the host's text.
    struct HostFailure: ModuleError {
        let message: String
    }

    private final class Reply: Sendable {
        let outcome: LoopContinuation<Outcome>
        private let isEnded = Atomic<Bool>(false)

        init(on eventLoop: EventLoop) { self.outcome = LoopContinuation(on: eventLoop) }

        /// Resumes the caller, unless the message is completed already.
        func end(_ outcome: Outcome) {
            if self.isEnded.exchange(true, ordering: .acquiringAndReleasing) { return }
            self.outcome.resume(returning: outcome)
        }
    }

    /// Creates the message of a handler on a loop, or of a subscriber if the loop is nil.
    init(_ message: Message, repliesOn eventLoop: EventLoop? = nil) throws(RoutingError) {
        self.url = CText(message.address.text)
        var parameters: [String: any Sendable] = message.parameters.all
        for (name, value) in message.parameters.passedValues { parameters[name] = value }
        self.parameters = CText(try JSONWriter.encoded(parameters))
        self.payload = try message.rawPayload.map { payload throws(RoutingError) in
            CText(try JSONWriter.encoded(payload))
        }
        self.reply = eventLoop.map { Reply(on: $0) }
    }

    /// Passes the message of a handler to the host, and waits until the message is completed.
    nonisolated(nonsending) func answer(by host: HostHandler) async throws -> JSONText {
        guard let reply = self.reply else {
            preconditionFailure("internal error: the message of a subscriber has no reply")
        }
        return try await reply.outcome.wait(isolation: #isolation) {
            host.call(self)
        } onCancel: {
            reply.end(.failure(CancellationError()))
        }.get()
    }

    /// A pointer for the host, which retains the message until the host completes the message.
    var retained: OpaquePointer {
        // `end` releases the message, and the host must complete each message once.
        unsafe OpaquePointer(CallbackContext.retaining(self))
    }

    /// A pointer for the host, which is valid as long as this process retains the message.
    var borrowed: OpaquePointer { unsafe OpaquePointer(CallbackContext.borrowing(self)) }

    static func of(_ pointer: OpaquePointer?) -> PendingMessage? {
        // The header requires a pointer that `retained` or `borrowed` has returned and that is still valid.
        unsafe pointer.map { unsafe CallbackContext.object(of: UnsafeMutableRawPointer($0)) }
    }

    /// Completes a message that the C program handles, and releases the program's pointer to the message.
    ///
    /// If the closure throws, its error is the failure of the message, so that the caller does not wait for
    /// a reply that the host believes to have sent. The result is the number of a `HostStatus`.
    static func end(_ pointer: OpaquePointer?, _ body: () throws -> Result<JSONText, any Error>) -> Int32 {
        guard let message = unsafe self.of(pointer), let reply = message.reply else {
            return HostStatus.invalidArgument.rawValue
        }
        let (status, outcome): (HostStatus, Outcome)
        do {
            (status, outcome) = (.ok, try body())
        } catch {
            let failure = HostFailure(message: "the handler's reply or failure is invalid: \(error)")
            (status, outcome) = (.invalidArgument, .failure(failure))
        }
        reply.end(outcome)
        // Balances `retained`, because the host completes a message once.
        unsafe CallbackContext.take(CallbackContext.borrowing(message), as: PendingMessage.self)
        return status.rawValue
    }
}
