internal import Synchronization
internal import WaybillRouting

/// A middleware that runs before all other middlewares, and reports messages and replies.
final class Wiretap: Middleware {
    /// The number of dropped events.
    let losses = Losses()
    private typealias Kind = MessageTrace.Event.Kind

    private let events: @Sendable (MessageTrace.Event) -> Bool
    /// A closure that is called when no more events will follow.
    let end: @Sendable () -> Void

    /// The counter of dropped events.
    ///
    /// Readers hold the counter and not the wiretap, because the sequence of events ends when the wiretap is
    /// released.
    final class Losses: Sendable {
        let count = Atomic<Int>(0)
    }

    convenience init(_ events: AsyncStream<MessageTrace.Event>.Continuation) {
        self.init({ if case .dropped = events.yield($0) { false } else { true } }, onEnd: { events.finish() })
    }

    /// Creates a wiretap.
    ///
    /// - Parameters:
    ///   - events: A closure that receives each event on the thread where the event occurs, and returns
    ///     whether it kept the event.
    ///   - onEnd: A closure that is called when no more events will follow.
    init(
        _ events: @escaping @Sendable (MessageTrace.Event) -> Bool,
        onEnd: @escaping @Sendable () -> Void = {}
    ) {
        self.events = events
        self.end = onEnd
    }

    deinit { self.end() }

    nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        let start = ContinuousClock.now
        let pattern = context.pattern
        self.record(.message, of: message, pattern: pattern, since: start)
        let observed = message.observed { [weak self] event in
            let kind =
                switch event {
                case .progress(let value): Kind.progress(value)
                case .answer(let value): Kind.answer(value)
                }
            self?.record(kind, of: message, pattern: pattern, since: start)
        }
        do throws(RoutingError) {
            let value = try await next.attempt(observed)
            // If the reply is late, the caller has already received a failure, so the trace must report this
            // failure.
            let kind =
                next.interception.isLate(message)
                ? .failure(next.interception.failure(CancellationError(), of: message)) : Kind.reply(value)
            self.record(kind, of: message, pattern: pattern, since: start)
            return value
        } catch {
            self.record(.failure(error), of: message, pattern: pattern, since: start)
            throw error
        }
    }

    private func record(
        _ kind: Kind,
        of message: Message,
        pattern: String?,
        since start: ContinuousClock.Instant
    ) {
        let now = ContinuousClock.now
        let event = MessageTrace.Event(
            kind: kind,
            message: message,
            pattern: pattern,
            time: now,
            duration: now - start
        )
        if !self.events(event) { self.losses.count.add(1, ordering: .relaxed) }
    }
}

// The interface for sibling targets. A trace is read some time later, but an observer is called immediately.
// When a caller has received a reply, the observer has therefore already recorded the message.
extension MessageBus {
    /// Reports every message and reply to a closure, before all middlewares.
    ///
    /// - Parameter events: A closure that is called on the thread where an event occurs. The closure must
    ///   neither block nor use the bus.
    /// - Returns: A registration that can end the observation.
    package func observe(
        _ events: @escaping @Sendable (MessageTrace.Event) -> Void
    ) -> Registration {
        let wiretap = Wiretap({ event in
            events(event)
            return true
        })
        return self.core.intercept(pattern: nil) { $0.insert(wiretap: wiretap, scope: nil) }
    }

    /// Reports every dead letter to a closure, before the dead letter is counted.
    ///
    /// - Parameter observer: A closure that is called on the thread where a dead letter occurs. The closure
    ///   must neither block nor use the bus.
    /// - Returns: A closure that ends the observation.
    package func observeDeadLetters(
        _ observer: @escaping @Sendable (DeadLetter) -> Void
    ) -> @Sendable () -> Void {
        self.core.deadLetters.watch(observer)
    }

    /// The configuration of the bus, with its current default scheme.
    package var configuration: Configuration { self.core.currentConfiguration }
}
