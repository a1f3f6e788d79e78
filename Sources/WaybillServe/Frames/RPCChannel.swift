package import WaybillJSON
package import WaybillRouting

/// The way in which messages reach a peer; a channel belongs to the actor that uses it.
package protocol RPCChannel: AnyObject {
    /// The name of the peer, for the log.
    var peer: String { get }
    /// Whether nothing can be sent any more.
    var isClosed: Bool { get }

    /// Whether messages no longer reach the peer, although messages of the peer may still arrive.
    var isBroken: Bool { get }

    /// Enqueues a message for the next send.
    ///
    /// - Returns: False if too many bytes wait already; the message is not sent then.
    @discardableResult
    func enqueue(_ body: [UInt8]) -> Bool

    /// The number of enqueued bytes that the system has not accepted.
    var unsentBytes: Int { get }

    /// Sends the enqueued messages; waits while the peer does not read enough.
    nonisolated(nonsending) func flush() async

    /// Schedules one send of all messages that the code running now enqueues.
    func flushSoon()

    /// Tells the channel that a request is being handled and will be answered later.
    func accepted(_ id: RPCID)

    /// Tells the channel that a request has been admitted.
    func began(_ id: RPCID)

    /// Tells the channel that a request has been answered.
    func ended(_ id: RPCID, _ failure: RPCFailure?)

    /// Returns the reason that a result cannot be sent, or nil if it can.
    func objection(to result: JSONText) -> RoutingError?

    /// Closes the channel; flushed messages are still sent.
    func close()

    /// Closes the channel at once.
    func abort()
}

extension RPCChannel {
    package var unsentBytes: Int { 0 }
    package var isBroken: Bool { false }
    package func began(_ id: RPCID) {}
    package func ended(_ id: RPCID, _ failure: RPCFailure?) {}
}
