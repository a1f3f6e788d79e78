internal import Synchronization

/// An observer of dead letters or trace events: a closure, or the buffer of a sequence.
final class Observer<Element: Sendable>: Sendable {
    /// The number of elements that were not read from the buffer in time.
    let dropped = Atomic<Int>(0)
    private let receiver: Receiver

    private enum Receiver {
        case closure(@Sendable (Element) -> Void)
        case buffer(AsyncStream<Element>.Continuation)
    }

    /// Creates an observer that calls a closure on the thread where an element occurs.
    init(_ body: @escaping @Sendable (Element) -> Void) { self.receiver = .closure(body) }

    private init(_ buffer: AsyncStream<Element>.Continuation) { self.receiver = .buffer(buffer) }

    /// Makes an observer with a buffer, and the sequence that reads from the buffer.
    ///
    /// A buffer that has `limit` elements, at least one, drops the oldest element. `onEnd` receives the ID of
    /// the observer when the sequence is released or the observer has finished.
    static func buffered(
        limit: Int,
        onEnd: (@Sendable (ObjectIdentifier) -> Void)? = nil
    ) -> (observer: Observer, sequence: AsyncStream<Element>) {
        let (stream, buffer) = AsyncStream.makeStream(
            of: Element.self,
            bufferingPolicy: .bufferingNewest(max(1, limit))
        )
        let observer = Observer(buffer)
        let id = ObjectIdentifier(observer)
        if let onEnd { buffer.onTermination = { _ in onEnd(id) } }
        return (observer, stream)
    }

    func notify(_ element: Element) {
        switch self.receiver {
        case .closure(let body): body(element)
        case .buffer(let buffer):
            if case .dropped = buffer.yield(element) { self.dropped.add(1, ordering: .relaxed) }
        }
    }

    /// Ends the sequence after the elements in the buffer.
    func finish() {
        if case .buffer(let buffer) = self.receiver { buffer.finish() }
    }
}
