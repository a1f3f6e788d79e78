extension LoopBound {
    /// Makes a plain closure of code of this actor, for callers that are on its loop already.
    ///
    /// It is for code that is kept and called often: the compiler's check is taken off once, here, and the loop's own
    /// is made in debug builds. ``assumeOnLoop(_:)`` is for code that is at hand.
    ///
    /// - Parameter body: code that is isolated to the actor.
    /// - Returns: the same code; it must be called on the actor's loop.
    @inlinable
    @inline(__always)
    package nonisolated func plain<Argument, Result>(
        _ body: @escaping @Sendable (isolated Self, Argument) throws -> Result
    ) -> @Sendable (Argument) throws -> Result {
        // An isolated parameter is passed like any other, and where the code runs is the caller's promise.
        let plain = unsafe unsafeBitCast(body, to: (@Sendable (Self, Argument) throws -> Result).self)
        return { argument in
            assert(self.eventLoop.isInEventLoop, "not on the event loop of the actor")
            return try plain(self, argument)
        }
    }
}
