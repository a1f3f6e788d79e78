internal import WaybillEventLoop

extension BusCore {
    /// Counts a delivery against the budget of the caller's loop, and lets the loop poll when that is used up.
    ///
    /// A caller that belongs to no actor may have started on the loop's thread and is elsewhere when it comes back.
    nonisolated(nonsending) func admit() async {
        while let loop = EventLoop.current, !loop.consumeDeliveryBudget() { await loop.turn() }
    }
}
