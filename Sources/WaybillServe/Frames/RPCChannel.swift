package import WaybillJSON
package import WaybillRouting

/// A channel that sends messages to a peer.
///
/// A channel belongs to the actor that uses it.
package protocol RPCChannel: AnyObject {
    /// The name of the peer, for the log.
    var peer: String { get }

    /// Enqueues a message for the next send.
    ///
    /// - Returns: Whether the channel has accepted the message. If the result is false, too many bytes wait
    ///   already, and the message is not sent.
    @discardableResult
    func enqueue(_ body: [UInt8]) -> Bool

    /// Sends the enqueued messages, and waits while too many bytes are unread.
    nonisolated(nonsending) func flush() async

    /// Schedules one send of all messages that the code running now enqueues.
    func flushSoon()

    /// Claims a request whose handler has suspended.
    ///
    /// A claim informs the sender of a request that this process handles the request, before the answer is
    /// sent. Only nodes send claims.
    func claim(_ id: RPCID)

    /// Returns the reason that a result cannot be sent, or nil if the result can be sent.
    func objection(to result: JSONText) -> RoutingError?

    /// Returns the reason that a value cannot be sent before the answer to its request, or nil.
    ///
    /// The peer finds the request of an unreadable answer by its ID, but not the request of such a value.
    func objection(toEarly value: JSONText) -> RoutingError?
}

extension JSONText {
    /// Returns the reason that another process could not read the text, or nil.
    package func objection(depthLimit: Int, url: String = "") -> RoutingError? {
        do throws(JSONError) {
            _ = try self.validated(depthLimit: depthLimit)
            return nil
        } catch {
            return RoutingError(.notTransferable, url: url, message: "the message cannot be sent: \(error)")
        }
    }
}

extension RPCChannel {
    package func claim(_ id: RPCID) {}

    package func objection(toEarly value: JSONText) -> RoutingError? { self.objection(to: value) }
}
