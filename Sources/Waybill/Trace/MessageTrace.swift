internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// What passes through a bus, as it passes: messages, replies, and failures.
///
/// ```swift
/// for await event in try bus.trace(matching: "app://user/**") { print(event) }
/// ```
///
/// It begins with the call of ``MessageBus/trace(matching:bufferLimit:)``, and ends when the sequence and its iterators
/// are gone, or the bus is. It holds what has not been read yet, up to a limit; then the oldest events go, and are
/// counted. Nothing waits for whoever reads. What ends before its delivery begins, since it is late, at the hop limit or
/// has no place in a mailbox, is not in it; ``MessageBus/deadLetters`` has what nobody awaited.
public struct MessageTrace: AsyncSequence, Sendable {
    /// It fails never.
    public typealias Failure = Never

    let tap: Tap

    /// How many events were dropped because nobody read them in time.
    public var dropped: Int { self.tap.losses.count.load(ordering: .relaxed) }

    /// Begins to read; several iterators share the events.
    public func makeAsyncIterator() -> Iterator {
        Iterator(tap: self.tap, stream: self.tap.stream.makeAsyncIterator())
    }

    /// The events, one by one.
    public struct Iterator: AsyncIteratorProtocol {
        let tap: Tap
        var stream: AsyncStream<Event>.AsyncIterator

        /// The next event, or nil when the bus is gone or the task is cancelled.
        public mutating func next() async -> Event? { await self.next(isolation: #isolation) }

        /// The next event, for a caller that is isolated to an actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Event? {
            await EventLoop.yieldIfDue()
            return await self.stream.next(isolation: actor)
        }
    }

    /// Takes the wiretap out when nobody can read it any more.
    final class Tap: Sendable {
        let stream: AsyncStream<Event>
        let losses: Wiretap.Losses
        private let registration: Registration

        init(
            _ stream: AsyncStream<Event>,
            _ losses: Wiretap.Losses,
            _ registration: Registration
        ) {
            self.stream = stream
            self.losses = losses
            self.registration = registration
        }

        deinit { self.registration.cancel() }
    }
}
