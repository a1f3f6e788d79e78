/// The signals that the process receives, from the moment ``EventLoop/signals(_:)`` returns until the
/// sequence is dropped.
///
/// While a sequence exists its signals do not do what they do by default: Control-C no longer ends the
/// process. A sequence is for one iteration at a time, and holds its loop; signals that arrive between two
/// calls of `next` are buffered, the latest 64 of them.
public struct SignalSequence: AsyncSequence, Sendable {
    /// What a sequence yields.
    public typealias Element = Signal

    /// How a sequence ends: with the code `shutDown`, when its loop does.
    public typealias Failure = EventLoopError

    typealias Stream = AsyncThrowingStream<Signal, any Error>

    /// The most signals that are buffered.
    static var limit: Int { 64 }

    let eventLoop: EventLoop
    let stream: Stream

    /// Starts to wait for signals.
    public func makeAsyncIterator() -> Iterator {
        Iterator(eventLoop: self.eventLoop, base: self.stream.makeAsyncIterator())
    }

    /// Waits for signals, one at a time.
    public struct Iterator: AsyncIteratorProtocol {
        let eventLoop: EventLoop
        var base: Stream.Iterator

        /// The next signal, or nil once the task is cancelled.
        public mutating func next() async throws(EventLoopError) -> Signal? {
            try await self.next(isolation: #isolation)
        }

        /// The next signal, or nil once the task is cancelled.
        ///
        /// - Parameter actor: The actor to wait in the isolation of.
        /// - Returns: The signal.
        /// - Throws: ``EventLoopError`` with the code `shutDown` when the loop shuts down.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(EventLoopError) -> Signal? {
            await EventLoop.yieldIfDue()
            do {
                return try await self.base.next(isolation: actor)
            } catch let error as EventLoopError {
                throw error
            } catch {
                throw EventLoopError.shutDown(self.eventLoop.name)
            }
        }
    }
}
