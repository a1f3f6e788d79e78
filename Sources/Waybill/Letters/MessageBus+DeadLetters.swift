extension MessageBus {
    /// The dead letters of the bus from now on, for one who watches; any number may.
    ///
    /// ```swift
    /// let letters = bus.deadLetters
    /// Task { for await letter in letters { print(letter) } }
    /// ```
    ///
    /// These are all that ``BusStatistics/deadLettered`` counts: messages that reach no handler, whether their callers are
    /// told or not, those that the uncaught handler sees, and those that were sent, or are the return leg of another,
    /// and failed. By the time that a caller has its error, or that nobody awaits it and it is counted, the letter is
    /// there. The sequence ends when the bus has shut down or is dropped, and keeps neither the bus nor its loops. The
    /// latest 256 letters wait for a watcher that is slow: see ``deadLetters(limit:)``.
    ///
    /// While nobody watches, nothing is kept and nothing paid for; messages that nobody awaits are warnings in the
    /// log in any case.
    public var deadLetters: DeadLetters { self.deadLetters(limit: 256) }

    /// The dead letters of the bus from now on, for one who watches.
    ///
    /// - Parameter limit: how many wait for a watcher that is slow, at least one; one more drops the oldest, which is
    ///   counted in ``DeadLetters/dropped``.
    /// - Returns: the letters, for one iteration.
    public func deadLetters(limit: Int) -> DeadLetters { self.core.deadLetters.watch(limit: limit) }
}
