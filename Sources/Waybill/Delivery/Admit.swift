internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The operation that a peer in another process wants to perform on a URL.
///
/// An optional `PeerAccess` is nil for code of this process.
@usableFromInline
struct PeerAccess: Sendable {
    let audience: Audience
    let operation: ExposedOperations
}

extension BusCore {
    /// The phase of a bus, which only moves to a later phase.
    enum Phase: UInt8, AtomicRepresentable {
        case open
        /// The bus delivers only messages that are sent by handlers of messages in flight.
        case draining
        case closed
    }

    /// Returns the reason to reject a request, or nil to deliver it.
    @inline(__always)
    func rejection(of request: borrowing Request, by access: PeerAccess? = nil) -> RoutingError? {
        let phase = self.phase.load(ordering: .relaxed)
        // A peer can send any hop count, so only local code can prove that a handler sent the request.
        let isOfHandler = request.hops > 0 && access == nil
        if phase != .open, phase == .closed || !isOfHandler { return .shutDown(url: request.url) }
        if request.hops > max(0, self.configuration.hopLimit) {
            return .hopLimitExceeded(url: request.url, limit: self.configuration.hopLimit)
        }
        if request.expiry.exists, request.expiry.hasPassed(by: self.time) {
            return .deadlineExceeded(url: request.url)
        }
        guard let access else { return nil }
        return self.rejection(of: request.url, by: access)
    }

    @inline(never)
    private func rejection(of url: String, by access: PeerAccess) -> RoutingError? {
        guard CombiningMarks.areFew(in: url) else { return .combiningMarks(url) }
        do throws(RoutingError) {
            let operations = try self.exposures(to: access.audience).operations(at: url)
            return operations.isSuperset(of: access.operation)
                ? nil : self.notExposed(url, to: access.audience)
        } catch {
            return error
        }
    }
}
