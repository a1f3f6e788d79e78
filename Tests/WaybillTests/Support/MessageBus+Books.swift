internal import Waybill

extension MessageBus {
    /// Waits until nothing is in flight; whether that ever is so.
    func settles() async -> Bool { await eventually { self.statistics.inFlight == 0 } }
}
