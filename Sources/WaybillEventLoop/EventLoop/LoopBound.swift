/// An actor that runs on an event loop.
///
/// Conform an actor and name its loop; the executor comes with the protocol.
///
/// ```swift
/// actor Accounts: LoopBound {
///     let eventLoop: EventLoop
///     init(eventLoop: EventLoop) { self.eventLoop = eventLoop }
/// }
/// ```
public protocol LoopBound: Actor {
    /// The loop that the actor runs on; it must always be the same one, and the actor must hold it.
    nonisolated var eventLoop: EventLoop { get }
}

extension LoopBound {
    /// The loop as the actor's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe self.eventLoop.asUnownedSerialExecutor()
    }
}
