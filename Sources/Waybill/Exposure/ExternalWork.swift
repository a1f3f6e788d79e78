internal import Synchronization
internal import WaybillEventLoop

/// The work that a message of a peer causes in this process.
///
/// The work has parts: the wait for the outcome, each task of the message's handler, and the message to a
/// return URL that the peer gave. A handler that ignores its cancellation continues after the message has its
/// outcome. A server or node that limits the work of its peers therefore counts a message until all parts
/// have ended.
package final class ExternalWork: Sendable {
    private let parts = Atomic<Int>(1)
    /// The closure for the end; nil after the call, because a program may keep the message and this object.
    private let onEnd: Locked<(@Sendable () -> Void)?>

    /// Creates work with one part, the wait for the outcome.
    ///
    /// The server or node ends this part when it has answered a request. The bus ends this part when it
    /// settles a message that no caller awaits. `onEnd` is called once, by the end of the last part.
    package init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = Locked(onEnd) }

    /// Adds a part.
    ///
    /// Call this method while another part has not ended, for example in the task of that part.
    package func addPart() { self.parts.add(1, ordering: .relaxed) }

    /// Ends a part.
    package func endPart() {
        guard self.parts.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        self.onEnd.withLock { $0.take() }?()
    }
}
