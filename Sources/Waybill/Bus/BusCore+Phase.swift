internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// A bus's life: it only goes forward.
    enum Phase: UInt8, AtomicRepresentable {
        case open
        /// Takes only what a handler in flight sends.
        case draining
        case closed
    }

    /// Why a request may not be delivered at all, if so.
    @inline(__always)
    func objection(to request: Request) -> RoutingError? {
        let phase = self.phase.load(ordering: .relaxed)
        if phase != .open, phase == .closed || request.hops == 0 { return .shutDown(url: request.url) }
        if request.hops > max(0, self.configuration.hopLimit) {
            return .hopLimitExceeded(url: request.url, limit: self.configuration.hopLimit)
        }
        return request.due.hasPassed(by: self.time) ? .deadlineExceeded(url: request.url) : nil
    }
}
