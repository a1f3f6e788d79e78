extension LoopBound {
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
        // An isolated parameter is passed like any other. The loop is the actor's executor and this is its thread, so
        // the closure is where its type says that it has to be; and it promises that nobody else has its result.
        let isolated = IsolatedCall<Self, Result, Failure> { actor, body throws(Failure) in try body(actor) }
        let plain = unsafe unsafeBitCast(isolated, to: PlainCall<Self, Result, Failure>.self)
        nonisolated(unsafe) let result = try plain.call(self, body)
        return unsafe result
    }
}

/// A call that the compiler lets only an actor's own code make.
///
/// What is cast is a function that captures nothing, and not the caller's closure: that would have to be copied to
/// the heap first.
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
