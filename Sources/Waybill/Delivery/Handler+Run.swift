internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension Handler {
    /// Runs the handler, on its loop, where the mailbox is isolated.
    ///
    /// - Parameters:
    ///   - message: what it handles.
    ///   - isolation: the mailbox.
    ///   - exchange: the exchange with the message's caller; nil if this is the caller's own task.
    /// - Returns: the handler's value, or what it has thrown.
    func run(
        _ message: Message,
        isolation: isolated Mailbox,
        for exchange: Exchange?
    ) async -> Outcome {
        guard let code = self.code.suspending else { return self.runInPlace(message) }
        let context =
            exchange?.context() ?? .record(ContextRecord(message, inside: DeliveryContext.waiting))
        return await DeliveryContext.local.withValue(context.inherited) {
            // Captured, the parameter isolates the closure to the mailbox.
            _ = isolation
            do {
                return .replied(try await code.run(message, isolation: isolation))
            } catch {
                return .failed(self.failure(error, of: message))
            }
        }
    }

    /// The error of a message whose handler threw.
    func failure(_ error: any Error, of message: Message) -> RoutingError {
        if let reason = self.reason(for: error, of: message) { return reason.at(self) }
        let own: RoutingError =
            self.isConnector ? .thrown(error, at: message.parameters.url) : .thrown(error, by: message)
        return own.at(self)
    }

    /// What is behind an error, if it is not the handler's own, or a middleware's around it.
    ///
    /// After the deadline there is no other outcome. The deadline cancels a handler that is still running,
    /// and so does the end of its registration: these are the reason then, and not the cancellation.
    func reason(for error: any Error, of message: Message) -> RoutingError? {
        let url = message.parameters.url
        if message.expiry.hasPassed(by: self.core.time) { return .deadlineExceeded(url: url) }
        return error is CancellationError && Task.isCancelled && self.isGone ? self.reason(url) : nil
    }

    /// Calls a handler that cannot suspend, on its loop.
    func runInPlace(_ message: Message) -> Outcome {
        guard let shard = self.core.currentShard else {
            // A loop that is none of the bus's: nothing is noted there.
            return DeliveryContext.with(.record(ContextRecord(message, inside: nil))) {
                self.attempt(message)
            }
        }
        // What the handler sends inherits from its message; this is cheaper than a task-local value.
        let outer = shard.begin(message.inPlace)
        let handled = shard.beginHandling(message.id)
        defer {
            shard.end(outer)
            shard.endHandling(handled)
        }
        return self.attempt(message)
    }

    @inline(__always)
    private func attempt(_ message: Message) -> Outcome {
        do {
            return .replied(try self.call(message))
        } catch {
            return .failed(self.failure(error, of: message))
        }
    }

    /// Calls a handler that cannot suspend for a message that no caller awaits, and counts its outcome.
    func settle(_ message: Message, in mailbox: isolated Mailbox) {
        // The handler's core holds the shard; the same holds for each `unsafe` below.
        guard let shard = self.shard, unsafe shard.withUnsafeObject({ $0.isCurrent }) else {
            let outcome = self.runInPlace(message)
            mailbox.endTurn()
            if case .replied(let value) = outcome { self.core.conclude(message, value) }
            return self.core.endUnawaited(message, outcome, at: self)
        }
        let outer = unsafe shard.withUnsafeObject { $0.begin(message.inPlace) }
        defer { unsafe shard.withUnsafeObject { $0.end(outer) } }
        do {
            let value = try self.call(message)
            mailbox.endTurn()
            if message.hasReturnURL { self.core.conclude(message, value) }
            unsafe shard.withUnsafeObject { Counters.increment($0.counters.replied) }
            Counters.increment(self.counters.repliedInPlace)
            self.core.noteEndInPlace()
            message.extras?.isReturnOf?.end(.delivered)
        } catch {
            mailbox.endTurn()
            self.core.endUnawaited(message, .failed(self.failure(error, of: message)), at: self)
        }
    }
}

extension Message {
    /// What its handler's messages inherit.
    @inline(__always)
    var inPlace: LoopShard.InPlace { LoopShard.InPlace(hops: self.hops, expiry: self.expiry) }
}
