internal import Synchronization
internal import WaybillRouting

/// Tells of what passes, outside of all middlewares.
final class Wiretap: Middleware {
    /// How many events came to nothing.
    let losses = Losses()
    private let events: AsyncStream<MessageTrace.Event>.Continuation

    /// Counts; whoever reads holds this and not the wiretap, which ends the events when it goes.
    final class Losses: Sendable {
        let count = Atomic<Int>(0)
    }

    init(_ events: AsyncStream<MessageTrace.Event>.Continuation) { self.events = events }

    deinit { self.events.finish() }

    nonisolated(nonsending) func handle(
        _ message: Message,
        next: borrowing Next
    ) async throws -> any Sendable {
        let start = ContinuousClock.now
        let pattern = next.pattern(of: message)
        self.tell(.message, message, pattern, since: start)
        let observed = message.observed { [weak self] value in
            self?.tell(.progress(value), message, pattern, since: start)
        }
        do throws(RoutingError) {
            let value = try await next(observed)
            self.tell(.reply(value), message, pattern, since: start)
            return value
        } catch {
            self.tell(.failure(error), message, pattern, since: start)
            throw error
        }
    }

    private func tell(
        _ kind: MessageTrace.Event.Kind,
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
        if case .dropped = self.events.yield(event) { self.losses.count.add(1, ordering: .relaxed) }
    }
}
