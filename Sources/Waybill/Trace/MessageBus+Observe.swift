// For sibling targets: where a trace is read some time later, an observer is told on the spot, so that who has a reply can
// look at what was noted.
extension MessageBus {
    /// Tells of every message and reply, outside of all middlewares.
    ///
    /// - Parameter events: is called where things happen; it must neither wait nor use the bus.
    /// - Returns: what ends it.
    package func observe(
        _ events: @escaping @Sendable (MessageTrace.Event) -> Void
    ) -> Registration {
        let wiretap = Wiretap({ event in
            events(event)
            return true
        })
        return self.core.surround(pattern: nil) { $0.add(wiretap, scope: nil) }
    }

    /// Tells of every dead letter, before it is counted.
    ///
    /// - Parameter tell: is called where things happen; it must neither wait nor use the bus.
    /// - Returns: what ends it.
    package func observeDeadLetters(_ tell: @escaping @Sendable (DeadLetter) -> Void) -> @Sendable () -> Void
    {
        self.core.deadLetters.watch(tell)
    }

    /// How the bus reads URLs and patterns.
    package var configuration: Configuration { self.core.configuration }
}
