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
    ///
    /// A constant keeps to that. A bus traps when it registers an actor whose loop is another one each time
    /// that it is read, and in debug builds also when the loop has changed before a message is handled.
    nonisolated var eventLoop: EventLoop { get }
}

extension LoopBound {
    /// The loop as the actor's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe self.eventLoop.asUnownedSerialExecutor()
    }
}

extension LoopBound {
    /// The loop of the actor; traps unless the loop and the executor are the same each time they are read.
    package nonisolated var checkedEventLoop: EventLoop {
        let eventLoop = self.eventLoop
        let executor = unsafe eventLoop.asUnownedSerialExecutor().asSerialExecutor()
        for _ in 0..<4 {
            precondition(
                self.eventLoop === eventLoop,
                "`eventLoop` of \(Self.self) is not the same loop each time: make it a constant"
            )
            // Only the identity of the executor is read, while the loop is held.
            precondition(
                unsafe self.unownedExecutor.asSerialExecutor() === executor,
                "`unownedExecutor` of \(Self.self) is not its `eventLoop`"
            )
        }
        return eventLoop
    }

    /// Runs a closure as code of this actor, without suspending: the caller is on the actor's loop already.
    ///
    /// What `assumeIsolated` does, with the loop's own check in place of the runtime's. Traps off the loop.
    ///
    /// - Parameter body: What to run, isolated to the actor.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws.
    @inlinable
    @inline(__always)
    package nonisolated func assumeOnLoop<Result, Failure: Error>(
        _ body: (isolated Self) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        self.eventLoop.preconditionInEventLoop()
        // An isolated parameter is passed like any other. The loop is the actor's executor and this is its
        // thread, so the closure is isolated as its type demands; and its `sending` result has no other
        // reference.
        let isolated = IsolatedCall<Self, Result, Failure> { actor, body throws(Failure) in try body(actor) }
        let plain = unsafe unsafeBitCast(isolated, to: PlainCall<Self, Result, Failure>.self)
        nonisolated(unsafe) let result = try plain.call(self, body)
        return unsafe result
    }
}

/// A call that the compiler lets only an actor's own code make.
///
/// What is cast is a function that captures nothing, and not the caller's closure: that would have to be
/// copied to the heap first.
@usableFromInline
struct IsolatedCall<Isolation: Actor, Result, Failure: Error> {
    @usableFromInline
    typealias Body = (isolated Isolation) throws(Failure) -> Result

    @usableFromInline
    let call: (isolated Isolation, Body) throws(Failure) -> Result

    @inlinable
    init(_ call: @escaping (isolated Isolation, Body) throws(Failure) -> Result) {
        self.call = call
    }
}

/// The same call with the compiler's check taken off.
@usableFromInline
struct PlainCall<Isolation: Actor, Result, Failure: Error> {
    @usableFromInline
    let call: (Isolation, (isolated Isolation) throws(Failure) -> Result) throws(Failure) -> Result
}
