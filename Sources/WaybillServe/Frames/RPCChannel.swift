package import WaybillJSON
package import WaybillRouting

/// The transport of messages to one peer.
///
/// A channel belongs to the actor that uses it.
package protocol RPCChannel: AnyObject {
    /// The peer, for the log.
    var peer: String { get }
    /// Whether nothing can be sent any more.
    var isClosed: Bool { get }

    /// Whether nothing reaches the peer any more, although messages of it may still come.
    var isBroken: Bool { get }

    /// Appends a message to the next write.
    ///
    /// - Returns: false when too many bytes already wait. The message is then not sent.
    @discardableResult
    func enqueue(_ body: [UInt8]) -> Bool

    /// The number of bytes that are enqueued and that the system has not taken.
    var unsentBytes: Int { get }

    /// Sends what is enqueued; waits while the peer takes too little.
    nonisolated(nonsending) func flush() async

    /// Sends what the code that runs now enqueues, in one go.
    func flushSoon()

    /// Notes that a request is being handled, and will be answered later.
    func accepted(_ id: RPCID)

    /// Notes that a request has been admitted.
    func began(_ id: RPCID)

    /// Notes that a request has been answered.
    func ended(_ id: RPCID, _ failure: RPCFailure?)

    /// Returns the reason why a result cannot be sent, or nil.
    func objection(to result: JSONText) -> RoutingError?

    /// Closes the channel. Flushed messages are still sent.
    func close()

    /// Closes it at once.
    func abort()
}

extension RPCChannel {
    package var unsentBytes: Int { 0 }
    package var isBroken: Bool { false }
    package func began(_ id: RPCID) {}
    package func ended(_ id: RPCID, _ failure: RPCFailure?) {}
}
