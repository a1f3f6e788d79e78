internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// A message before it has an ID and a handler.
///
/// The value is small and has a fixed size. A reference holds the properties that only a few requests have.
@usableFromInline
struct Request: Sendable {
    let url: String
    var passed: PassedValues?
    var extras: MessageExtras?
    var hops = 0
    var expiry = Deadline.never
}

extension Request {
    init(
        url: String,
        parameters: [String: any Sendable],
        headers: [String: String],
        deadline: consuming ContinuousClock.Instant? = nil,
        timeout: Duration? = nil,
        by time: @autoclosure () -> TimeSource
    ) {
        self.url = url
        self.passed = .make(parameters)
        self.extras = headers.isEmpty ? nil : MessageExtras(headers: headers)
        self.expiry = Deadline(deadline)
        self.limit(to: timeout, by: time())
    }

    /// Sets a deadline relative to now, unless an earlier deadline is in effect.
    mutating func limit(to timeout: Duration?, by time: @autoclosure () -> TimeSource) {
        if let timeout { self.expiry = min(self.expiry, Deadline(after: timeout, by: time())) }
    }

    /// Returns the request with the hop count and the deadline that it inherits from the sending handler's
    /// message.
    @inline(__always)
    consuming func inheriting(on shard: BorrowedShard?) -> Request {
        if let handled = shard?.handledMessage {
            self.inherit(hops: handled.hops, expiry: handled.expiry)
        } else if let context = DeliveryContext.current {
            self.inherit(hops: context.hops, expiry: context.expiry)
        }
        return self
    }

    private mutating func inherit(hops: Int, expiry: Deadline) {
        self.hops = max(self.hops, hops + 1)
        self.expiry = min(self.expiry, expiry)
    }

    /// Returns the message for a receiver.
    ///
    /// `core` is nil for a receiver that does not reply, such as a subscriber or the handler for unmatched
    /// URLs. The value of a reply would go to the return URL, so this message has no return URL.
    @inline(__always)
    func message(
        id: CorrelationID,
        parameters: consuming Parameters,
        returningBy core: BusCore? = nil
    ) -> Message {
        if let passed { parameters.pass(passed) }
        var extras = self.extras
        if let core, parameters.hasFragment {
            extras = core.addingReturnPath(to: extras, parameters, id, hops: self.hops)
        }
        return Message(id: id, parameters: parameters, hops: self.hops, expiry: self.expiry, extras: extras)
    }
}

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
    func admissionError(of request: borrowing Request, by access: PeerAccess? = nil) -> RoutingError? {
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
        return self.accessError(at: request.url, by: access)
    }

    @inline(never)
    private func accessError(at url: String, by access: PeerAccess) -> RoutingError? {
        guard CombiningMarks.areFew(inURL: url) else { return .combiningMarks(url) }
        do throws(RoutingError) {
            let operations = try self.exposures(to: access.audience).operations(at: url)
            return operations.isSuperset(of: access.operation)
                ? nil : self.notExposed(url, to: access.audience)
        } catch {
            return error
        }
    }
}
