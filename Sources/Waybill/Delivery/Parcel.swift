internal import WaybillRouting

/// A message and the handler that it is for.
struct Parcel: Sendable {
    let message: Message
    let handler: Handler

    /// Calls a handler that cannot suspend, on its loop.
    @inline(__always)
    func call(_ body: (Message) throws -> any Sendable) -> Outcome {
        do {
            return .replied(try body(self.message))
        } catch {
            return .failed(.thrown(error, by: self.message))
        }
    }

    /// Calls the handler, on its loop, where the mailbox is isolated.
    func run(isolation: isolated Mailbox) async -> Outcome {
        switch self.handler.body {
        case .immediate(let body):
            return self.call(body)
        case .suspending(let body):
            let context = DeliveryContext(hops: self.message.hops, deadline: self.message.deadline)
            return await DeliveryContext.$current.withValue(context) {
                // Captured, the parameter isolates the closure to the mailbox.
                _ = isolation
                do {
                    return .replied(try await body(self.message))
                } catch {
                    return .failed(.thrown(error, by: self.message))
                }
            }
        }
    }

    /// Writes down how a message that nobody awaits ended: a failure becomes a dead letter.
    func settle(_ outcome: Outcome) {
        switch outcome {
        case .replied(let value):
            self.handler.core.close(.replied)
            self.handler.core.conclude(self.message, value)
        case .failed(let error):
            self.handler.core.deadLetter(
                url: self.message.parameters.url,
                message: self.message,
                error: error
            )
        }
    }
}
