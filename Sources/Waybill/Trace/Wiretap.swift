internal import Synchronization
internal import WaybillRouting

/// Reports what passes, outside of all middlewares.
final class Wiretap: Middleware {
    /// How many events were dropped.
    let losses = Losses()
    private typealias Kind = MessageTrace.Event.Kind

    private let events: @Sendable (MessageTrace.Event) -> Bool
    /// Called when there will be no more events.
    let end: @Sendable () -> Void

    /// Counts the dropped events.
    ///
    /// Readers hold this and not the wiretap, which ends the events when it is
    /// released.
    final class Losses: Sendable {
        let count = Atomic<Int>(0)
    }

    convenience init(_ events: AsyncStream<MessageTrace.Event>.Continuation) {
        self.init({ if case .dropped = events.yield($0) { false } else { true } }, onEnd: { events.finish() })
    }

    /// - Parameters:
    ///   - events: called for each event where it happens; returns whether it could keep it.
    ///   - onEnd: called when there will be no more.
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
        self.record(.message, message, pattern, since: start)
        let observed = message.observed { [weak self] event in
            let kind =
                switch event {
                case .progress(let value): Kind.progress(value)
                case .answer(let value): Kind.answer(value)
                }
            self?.record(kind, message, pattern, since: start)
        }
        do throws(RoutingError) {
            let value = try await next.attempt(observed)
            // If so, its caller has had another outcome.
            let kind =
                next.interception.isLate(message)
                ? .failure(next.interception.failure(CancellationError(), of: message)) : Kind.reply(value)
            self.record(kind, message, pattern, since: start)
            return value
        } catch {
            self.record(.failure(error), message, pattern, since: start)
            throw error
        }
    }

    private func record(
        _ kind: Kind,
        _ message: Message,
        _ pattern: String?,
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

// For sibling targets: where a trace is read some time later, an observer is called on the spot, so that a
// caller that has a reply finds its message recorded.
extension MessageBus {
    /// Reports every message and reply, outside of all middlewares.
    ///
    /// - Parameter events: is called where things happen; it must neither wait nor use the bus.
    /// - Returns: what ends it.
    package func observe(
        _ events: @escaping @Sendable (MessageTrace.Event) -> Void
    ) -> Registration {
        let wiretap = Wiretap({ event in
            events(event)
            return true
        })
        return self.core.intercept(pattern: nil) { $0.add(wiretap, scope: nil) }
    }

    /// Reports every dead letter, before it is counted.
    ///
    /// - Parameter observer: is called where things happen; it must neither wait nor use the bus.
    /// - Returns: what ends it.
    package func observeDeadLetters(
        _ observer: @escaping @Sendable (DeadLetter) -> Void
    ) -> @Sendable () -> Void {
        self.core.deadLetters.watch(observer)
    }

    /// How the bus reads URLs and patterns.
    package var configuration: Configuration { self.core.currentConfiguration }
}
