/// The signals that the process receives while the sequence exists.
///
/// Create a sequence with ``EventLoop/signals(_:)-(Signal...)``. While a sequence exists, the default action
/// of its signals is off, so Control-C, for example, no longer ends the process. A sequence supports one
/// iteration at a time, and keeps its loop alive. Signals that arrive between two calls of `next` are
/// buffered. The buffer keeps the latest 64 signals.
public struct SignalSequence: AsyncSequence, Sendable {
    /// The element of the sequence: a signal.
    public typealias Element = Signal

    /// The error of the sequence, whose code is `shutDown` when the loop has shut down.
    public typealias Failure = EventLoopError

    typealias Stream = AsyncThrowingStream<Signal, any Error>

    /// The most signals that are buffered.
    static var limit: Int { 64 }

    let eventLoop: EventLoop
    let stream: Stream

    /// Returns an iterator that waits for signals.
    public func makeAsyncIterator() -> Iterator {
        Iterator(eventLoop: self.eventLoop, base: self.stream.makeAsyncIterator())
    }

    /// An iterator that waits for signals, one at a time.
    public struct Iterator: AsyncIteratorProtocol {
        let eventLoop: EventLoop
        var base: Stream.Iterator

        /// Returns the next signal, or nil once the task is cancelled.
        public mutating func next() async throws(EventLoopError) -> Signal? {
            try await self.next(isolation: #isolation)
        }

        /// Returns the next signal, or nil once the task is cancelled.
        ///
        /// - Parameter actor: The actor in whose isolation the call waits.
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
