internal import WaybillRouting

/// A message and the handler that it is for.
struct Parcel: Sendable {
    let message: Message
    let handler: Handler

    /// Calls a handler that cannot suspend, on its loop.
    @inline(__always)
    func call(_ body: (Message) throws -> any Sendable) -> Outcome {
        guard self.message.extras?.hasDeadline != true, let lane = self.handler.core.currentLane else {
            return self.handler.core.call(for: self.message) { self.attempt(body) }
        }
        // What the handler sends inherits from its message; this is cheaper than a task-local value.
        let outer = lane.begin(hops: self.message.hops)
        defer { lane.end(outer) }
        return self.attempt(body)
    }

    @inline(__always)
    private func attempt(_ body: (Message) throws -> any Sendable) -> Outcome {
        do {
            return .replied(try body(self.message))
        } catch {
            return .failed(.thrown(error, by: self.message))
        }
    }

    /// Why the handler may not have the message any more, if so.
    var objection: RoutingError? {
        if let error = self.handler.objection(to: self.message.parameters.url) { return error }
        guard self.message.extras?.hasDeadline == true, let deadline = self.message.deadline, deadline <= .now
        else { return nil }
        return .deadlineExceeded(url: self.message.parameters.url)
    }

    /// Calls the handler, on its loop, where the mailbox is isolated.
    ///
    /// - Parameters:
    ///   - isolation: the mailbox.
    ///   - context: what is being handled by whoever waits for this message, if that is a handler.
    /// - Returns: the handler's value, or what it has thrown.
    func run(isolation: isolated Mailbox, inside context: DeliveryContext?) async -> Outcome {
        switch self.handler.body {
        case .immediate(let body):
            return self.call(body)
        case .suspending(let body):
            return await DeliveryContext.$current.withValue(DeliveryContext(self.message, inside: context)) {
                // Captured, the parameter isolates the closure to the mailbox.
                _ = isolation
                do {
                    guard let executor = isolation.taskExecutor else {
                        return .replied(try await body(self.message))
                    }
                    return .replied(
                        try await withTaskExecutorPreference(executor, isolation: isolation) {
                            _ = isolation
                            return try await body(self.message)
                        }
                    )
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
            self.handler.core.conclude(self.message, value)
            self.handler.core.close(.replied)
        case .failed(let error):
            self.handler.core.deadLetter(
                url: self.message.parameters.url,
                message: self.message,
                error: error
            )
        }
    }
}
