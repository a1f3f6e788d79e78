internal import Synchronization
public import WaybillEventLoop
public import WaybillRouting

/// The rest of a delivery: the middlewares that come after, and the handler.
///
/// Each call is one attempt to deliver: a middleware may call it never, once, or again. It cannot be copied
/// or kept, so when the middleware has returned, nothing comes after it any more.
public struct Next: ~Copyable, Sendable {
    // Held by the code that makes the first of these, until the last has returned: a middleware cannot keep
    // one.
    @usableFromInline let chain: Unretained<MiddlewareChain>
    /// Which of the chain comes next; if there is none, the handler does.
    @usableFromInline let index: Int
    @usableFromInline let handler: Unretained<Handler>
    /// What bounds the rest; nil while there is nothing to know.
    @usableFromInline let stage: Unretained<DeliveryBounds>?

    @inlinable
    init(
        _ chain: Unretained<MiddlewareChain>,
        _ index: Int,
        _ handler: Unretained<Handler>,
        _ stage: Unretained<DeliveryBounds>?
    ) {
        self.chain = chain
        self.index = index
        self.handler = handler
        self.stage = stage
    }

    /// Delivers a message to the rest.
    ///
    /// A message with an earlier deadline than before is bounded by it: the rest is cancelled, and no longer
    /// waited for, when it passes.
    ///
    /// - Parameter message: the message as it was given to the middleware, or one made from it.
    /// - Returns: the reply's value.
    /// - Throws: a `RoutingError`, the reason that there is none; it is about this message's URL. The type is
    ///   not in the signature, since Swift 6.3 does not compile a middleware then that may throw before it
    ///   calls the rest.
    @inlinable
    @inline(__always)
    public nonisolated(nonsending) func callAsFunction(_ message: Message) async throws -> any Sendable {
        // Caught and thrown again for that reason as well.
        do throws(RoutingError) {
            return try await self.attempt(message)
        } catch {
            throw error
        }
    }

    /// The same, for middlewares that look at the reason.
    @inlinable
    @inline(__always)
    package nonisolated(nonsending) func attempt(
        _ message: Message
    ) async throws(RoutingError) -> any Sendable {
        if !message.hasDeadline {
            // The delivery that made the first `Next` holds chain, handler and stage until the last has
            // returned.
            let links = unsafe self.chain.withUnsafeObject { $0.links }
            if self.index < links.count {
                if unsafe links[self.index].isGlobal {
                    do {
                        return try await unsafe links[self.index].code.handle(
                            links[self.index].code.box,
                            message,
                            self.context,
                            self.following
                        )
                    } catch {
                        throw self.failure(error, of: message)
                    }
                }
            } else {
                if self.canCallInPlace(message) { return try self.callInPlace(message) }
            }
        }
        return try await self.deliver(message)
    }

    /// What a middleware knows about the delivery.
    @inlinable var context: MiddlewareContext { MiddlewareContext(self.handler) }

    /// What comes after the next of the chain.
    @inlinable var following: Next {
        Next(self.chain, self.index &+ 1, self.handler, self.stage)
    }

    /// Whether a reply that comes now is dropped, since the message has ended otherwise.
    func isLate(_ message: Message) -> Bool {
        // The end of an exchange cancels the task that the message is delivered in, if it has one of its own.
        message.exchange?.isOver ?? (self.stage != nil && Task.isCancelled)
    }

    @usableFromInline
    @inline(never)
    func failure(_ error: any Error, of message: Message) -> RoutingError {
        // The delivery that made the first `Next` holds chain, handler and stage until the last has returned.
        let handler = unsafe self.handler.unsafeObject
        return (handler.reason(for: error, of: message) ?? .thrown(error, around: message)).at(handler)
    }
}

extension Next {
    /// Delivers a message that has a deadline, or meets a middleware that is not around everything, or whose
    /// handler cannot be called here and now.
    @usableFromInline
    @inline(never)
    nonisolated(nonsending) func deliver(_ message: Message) async throws(RoutingError) -> any Sendable {
        if message.hasDeadline, self.shortens(message.expiry) {
            return try await self.deliver(message, until: message.expiry)
        }
        // The delivery that made the first `Next` holds chain, handler and stage until the last has returned.
        let links = unsafe self.chain.withUnsafeObject { $0.links }
        var index = self.index
        while index < links.count, unsafe !links[index].intercepts(message) { index += 1 }
        guard index < links.count else { return try await self.arrive(message) }
        do {
            let next = Next(self.chain, index + 1, self.handler, self.stage)
            return try await unsafe links[index].code.handle(
                links[index].code.box,
                message,
                self.context,
                next
            )
        } catch {
            throw self.failure(error, of: message)
        }
    }

    /// Whether a deadline is earlier than every deadline that is watched already.
    private func shortens(_ deadline: Deadline) -> Bool {
        // The delivery that made the first `Next` holds chain, handler and stage until the last has returned.
        guard let earlier = unsafe self.stage?.unsafeObject.deadline else { return true }
        return deadline < earlier
    }

    /// Delivers a message in a task of its own, which is no longer waited for when the deadline passes.
    private nonisolated(nonsending) func deliver(
        _ message: Message,
        until deadline: Deadline
    ) async throws(RoutingError) -> any Sendable {
        // The delivery that made the first `Next` holds chain, handler and stage until the last has returned.
        let handler = unsafe self.handler.unsafeObject
        let core = handler.core
        let url = message.parameters.url
        guard !deadline.hasPassed(by: core.time) else { throw .deadlineExceeded(url: url) }
        let exchange = Exchange(message.id, url: url, core: core, .attempt, caller: DeliveryContext.waiting)
        exchange.expire(at: deadline, on: core.currentShard?.eventLoop)
        let outer = unsafe self.stage?.unsafeObject
        let stage = DeliveryBounds(
            deadline: deadline,
            hasWaited: outer?.hasWaited == true,
            attempts: outer?.attempts
        )
        let task = Delivery(unsafe self.chain.unsafeObject, from: self.index, handler, stage).start(
            message,
            for: exchange
        )
        outer?.attempts?.add(task)
        return try await exchange.listen(noListener).value()
    }

    /// Gives a message to its handler, wherever that is.
    private nonisolated(nonsending) func arrive(
        _ message: Message
    ) async throws(RoutingError) -> any Sendable {
        if self.canCallInPlace(message) { return try self.callInPlace(message) }
        // The delivery that made the first `Next` holds chain, handler and stage until the last has returned.
        let handler = unsafe self.handler.unsafeObject
        if let failure = handler.failure { throw failure }
        message.arrive()
        let outcome =
            unsafe self.stage?.unsafeObject.hasWaited == true
            ? await handler.mailbox.run(message, handler, for: nil) : await handler.core.hop(message, handler)
        if case .replied = outcome, self.isLate(message) {
            // A wiretap sees what the caller sees.
            handler.core.countLateReply(at: handler)
            throw self.failure(CancellationError(), of: message)
        }
        return try outcome.at(handler).value()
    }

    /// Whether the handler cannot suspend, the caller is on its loop, and nothing stands in between.
    @usableFromInline
    func canCallInPlace(_ message: Message) -> Bool {
        // The delivery that made the first `Next` holds chain, handler and stage until the last has returned.
        let hasWaited = unsafe self.stage?.unsafeObject.hasWaited == true
        return unsafe self.handler.withUnsafeObject { handler in
            // A handler's core holds the shard.
            unsafe handler.isImmediate && !message.hasDeadline && !handler.isGone
                && (hasWaited || !handler.mailbox.isOccupied)
                && handler.shard?.withUnsafeObject { $0.isCurrent } == true
        }
    }

    /// Calls the handler.
    @usableFromInline
    func callInPlace(_ message: Message) throws(RoutingError) -> any Sendable {
        if message.hasReturnURL { message.arrive() }
        var failure: RoutingError?
        // An optional of a value of any type would be copied by the runtime.
        // The delivery that made the first `Next` holds chain, handler and stage until the last has returned.
        let value: any Sendable = unsafe self.handler.withUnsafeObject { handler in
            // A handler's core holds the shard.
            let outer = unsafe handler.shard?.withUnsafeObject { shard in
                (shard.begin(message.inPlace), shard.beginHandling(message.id))
            }
            defer {
                if let outer {
                    unsafe handler.shard?.withUnsafeObject { shard in
                        shard.end(outer.0)
                        shard.endHandling(outer.1)
                    }
                }
            }
            do {
                return try handler.call(message)
            } catch {
                failure = handler.failure(error, of: message)
                return ()
            }
        }
        if let failure { throw failure }
        return value
    }
}

extension Outcome {
    /// The value, whatever it is.
    @inline(__always)
    consuming func value() throws(RoutingError) -> any Sendable {
        switch self {
        case .replied(let value): return value
        case .failed(let error): throw error
        }
    }
}

/// What bounds the rest of a delivery.
@usableFromInline
final class DeliveryBounds: Sendable {
    /// The deadline that is watched already.
    let deadline: Deadline

    /// Whether the message has waited in its mailbox before it met the first middleware, as messages do that
    /// no caller awaits.
    let hasWaited: Bool

    /// The tasks that deliver it, if it is the message in progress of a serial module.
    let attempts: Attempts?

    init(deadline: Deadline, hasWaited: Bool = false, attempts: Attempts? = nil) {
        self.deadline = deadline
        self.hasWaited = hasWaited
        self.attempts = attempts
    }
}

extension DeliveryBounds {
    /// Tasks that a middleware may no longer wait for, but whose end the next message of a serial module has
    /// to wait for.
    final class Attempts: Sendable {
        private let tasks = Locked<[HandlerTask]>([])

        var isEmpty: Bool { self.tasks.withLock { $0.isEmpty } }

        func add(_ task: HandlerTask) { self.tasks.withLock { $0.append(task) } }

        nonisolated(nonsending) func end() async {
            while let task = self.tasks.withLock({ $0.popLast() }) { _ = await task.result }
        }
    }
}
