/// An actor that runs on an event loop.
///
/// Declare the conformance and the loop; the protocol provides the executor.
///
/// ```swift
/// actor Accounts: LoopBound {
///     let eventLoop: EventLoop
///     init(eventLoop: EventLoop) { self.eventLoop = eventLoop }
/// }
/// ```
public protocol LoopBound: Actor {
    /// The loop that the actor runs on.
    ///
    /// The loop must be the same at every access, and the actor must have a strong reference to the loop.
    ///
    /// A constant meets both conditions. When a bus registers an actor, the bus reads the property several
    /// times, and traps if the results differ. In debug builds the bus also traps if the loop has changed
    /// before the actor handles a message.
    nonisolated var eventLoop: EventLoop { get }
}

extension LoopBound {
    /// The actor's executor, which is its loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe self.eventLoop.asUnownedSerialExecutor()
    }
}

extension LoopBound {
    /// The loop of the actor; traps unless the loop and the executor are the same at each access.
    package nonisolated var checkedEventLoop: EventLoop {
        let eventLoop = self.eventLoop
        let executor = unsafe eventLoop.asUnownedSerialExecutor().asSerialExecutor()
        for _ in 0..<4 {
            precondition(
                self.eventLoop === eventLoop,
                "`eventLoop` of \(Self.self) is not the same loop each time: declare it as a constant"
            )
            // Only the identity of the executor is compared, while `eventLoop` keeps the loop alive.
            precondition(
                unsafe self.unownedExecutor.asSerialExecutor() === executor,
                "`unownedExecutor` of \(Self.self) is not its `eventLoop`"
            )
        }
        return eventLoop
    }

    /// Runs a closure with the isolation of this actor, without suspending.
    ///
    /// The caller must be on the actor's loop. This method works like `assumeIsolated`, but it checks the
    /// loop's thread and not the runtime's isolation. The method traps if the calling thread does not run the
    /// loop.
    ///
    /// - Parameter body: The closure to run, isolated to the actor.
    /// - Returns: The result of the closure.
    /// - Throws: The error that the closure throws.
    @inlinable
    @inline(__always)
    package nonisolated func assumeOnLoop<Result, Failure: Error>(
        _ body: (isolated Self) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        self.eventLoop.preconditionInEventLoop()
        // An isolated parameter is passed like any other parameter. The loop is the actor's executor and the
        // calling thread is the loop's thread, so the closure is isolated as its type demands. No other
        // reference to the `sending` result exists.
        let isolated = IsolatedCall<Self, Result, Failure> { actor, body throws(Failure) in try body(actor) }
        let plain = unsafe unsafeBitCast(isolated, to: PlainCall<Self, Result, Failure>.self)
        nonisolated(unsafe) let result = try plain.call(self, body)
        return unsafe result
    }
}

/// A call that the compiler allows only in code isolated to the actor.
///
/// The cast applies to a function that captures nothing. Casting the caller's closure instead would copy the
/// closure to the heap.
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

/// The type of ``IsolatedCall`` with `isolated` erased from the first parameter.
@usableFromInline
struct PlainCall<Isolation: Actor, Result, Failure: Error> {
    @usableFromInline
    let call: (Isolation, (isolated Isolation) throws(Failure) -> Result) throws(Failure) -> Result
}
