internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Lets every loop forget handlers that have gone.
    func forget() {
        for lane in [self.home] + self.others { lane.forget() }
    }

    /// Has whoever waits for a handler on a loop fail when the loop stops.
    func watch(_ eventLoop: EventLoop) {
        let id = ObjectIdentifier(eventLoop)
        self.hooks.withLock { hooks in
            guard hooks[id] == nil, self.phase.load(ordering: .sequentiallyConsistent) != .closed else {
                return
            }
            hooks[id] = eventLoop.onShutDown { self.stop(id) }
        }
    }

    /// Takes back what ``watch(_:)`` left with the loops.
    func unwatch() {
        let hooks = self.hooks.withLock { hooks in
            defer { hooks = [:] }
            return hooks
        }
        for hook in hooks.values { hook.cancel() }
    }

    /// A loop has stopped: its handlers stay registered, but nobody gets to them any more.
    private func stop(_ eventLoop: ObjectIdentifier) {
        _ = self.hooks.withLock { $0.removeValue(forKey: eventLoop) }
        for handler in self.directory.handlers + self.topics.handlers
        where ObjectIdentifier(handler.mailbox.eventLoop) == eventLoop {
            handler.retire(with: RoutingError.loopShutDown)
        }
    }
}
