internal import WaybillEventLoop
internal import WaybillRouting

/// A middleware that runs before all other middlewares, and reports messages and replies.
final class Wiretap: Middleware {
    /// The observer of the events, which a reader holds, because the release of the wiretap ends the events.
    let observer: Observer<MessageTrace.Event>

    init(_ observer: Observer<MessageTrace.Event>) { self.observer = observer }

    deinit { self.observer.finish() }

    nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        let time = next.interception.core.time
        let start = time.instant
        let pattern = context.pattern
        // The closure holds the observer and not the wiretap, for the same reason as a reader.
        let record = { @Sendable [observer] (kind: MessageTrace.Event.Kind) in
            let now = time.instant
            observer.notify(
                .init(kind: kind, message: message, pattern: pattern, time: now, duration: now - start)
            )
        }
        record(.message)
        do throws(RoutingError) {
            let value = try await next.attempt(message.observed(by: record))
            // If the reply is late, the caller has already received the failure.
            record(
                next.interception.isLate(message)
                    ? .failure(next.interception.failure(CancellationError(), of: message)) : .reply(value)
            )
            return value
        } catch {
            record(.failure(error))
            throw error
        }
    }
}

// The interface for sibling targets. Unlike the reader of a trace, an observer has recorded a message
// before its caller receives the reply.
extension MessageBus {
    /// Reports every message and reply to a closure, before all middlewares.
    ///
    /// The closure is called on the thread of the event, and must neither block nor use the bus.
    package func observe(_ events: @escaping @Sendable (MessageTrace.Event) -> Void) -> Registration {
        self.core.addMiddleware(MiddlewareLink(Wiretap(Observer(events))))
    }

    /// Reports every dead letter to a closure, before it is counted, until the result is called.
    ///
    /// The closure is called on the thread of the dead letter, and must neither block nor use the bus.
    package func observeDeadLetters(
        _ observer: @escaping @Sendable (DeadLetter) -> Void
    ) -> @Sendable () -> Void {
        self.core.deadLetters.watch(observer)
    }

    /// The configuration of the bus, with its current default scheme.
    package var configuration: Configuration { self.core.currentConfiguration }
}
