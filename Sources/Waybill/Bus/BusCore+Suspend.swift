internal import WaybillEventLoop

// The standard library's ways to suspend take the caller's isolation as a parameter, and in a function that is
// `nonisolated(nonsending)` its default is nil: they would leave the caller's loop and come back by way of two threads.
extension BusCore {
    /// An actor with the executor that the caller is on, if that is an event loop.
    var isolation: (any Actor)? {
        if let lane = self.currentLane { return lane }
        return EventLoop.current.map(Anchor.init)
    }

    /// Suspends until the loop has polled for I/O and timers, and the jobs before this one have run.
    nonisolated(nonsending) func turn(of lane: Lane) async {
        await withCheckedContinuation(isolation: lane) { continuation in
            lane.eventLoop.execute { continuation.resume() }
        }
    }
}

/// Stands for a loop where an actor has to be named.
private actor Anchor: LoopBound {
    nonisolated let eventLoop: EventLoop
    init(_ eventLoop: EventLoop) { self.eventLoop = eventLoop }
}
