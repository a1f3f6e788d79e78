internal import WaybillEventLoop

/// Stands for a loop where an actor has to be named, as for a task that runs on it.
actor Anchor: LoopBound {
    nonisolated let eventLoop: EventLoop

    init(_ eventLoop: EventLoop) { self.eventLoop = eventLoop }
}
