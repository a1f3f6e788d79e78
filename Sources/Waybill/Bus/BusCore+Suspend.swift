internal import WaybillEventLoop

// The standard library's ways to suspend take the caller's isolation as a parameter, and in a function that is
// `nonisolated(nonsending)` its default is nil: they would leave the caller's loop and come back by way of two threads.
// So whatever suspends on a loop does it in a `Pause`, with `#isolation` as an argument, where it is the caller's; or as
// a method of an actor of that loop, and calling one from there is no hop.
extension BusCore {
    /// An actor with the executor that the caller is on, if that is an event loop.
    var anchor: Anchor? { self.currentLane?.anchor ?? EventLoop.current.map(Anchor.init) }

    /// Counts a delivery against the budget of the caller's loop, and lets the loop poll when that is used up.
    ///
    /// A caller that belongs to no actor may have started on the loop's thread and is elsewhere when it comes back.
    nonisolated(nonsending) func admit() async {
        while let loop = EventLoop.current, !loop.consumeDeliveryBudget() {
            await (self.anchor ?? Anchor(loop)).turn()
        }
    }
}

/// Stands for a loop where an actor has to be named.
actor Anchor: LoopBound {
    nonisolated let eventLoop: EventLoop

    init(_ eventLoop: EventLoop) { self.eventLoop = eventLoop }
}
