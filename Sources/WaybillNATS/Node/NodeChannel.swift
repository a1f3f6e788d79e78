internal import WaybillJSON
internal import WaybillRouting
internal import WaybillServe

/// A channel that publishes answers to the reply subject of a node or a client.
final class NodeChannel: RPCChannel {
    let peer: String
    private let subject: String
    private let reply: String
    private let isNode: Bool
    private let transport: any ClusterTransport
    private let onAnswer: (@Sendable () -> Void)?

    /// Creates a channel to the other side, which sends messages about its requests to `reply`.
    ///
    /// `subject` is empty if the other side does not expect answers. If `isNode` is false, the other side is
    /// a client that waits for one answer. `onAnswer` is called after each answer, and is nil for a node.
    init(
        peer: String,
        to subject: String,
        replyingTo reply: String,
        isNode: Bool,
        over transport: any ClusterTransport,
        onAnswer: (@Sendable () -> Void)?
    ) {
        self.peer = peer
        self.subject = subject
        self.reply = reply
        self.isNode = isNode
        self.transport = transport
        self.onAnswer = onAnswer
    }

    @discardableResult
    func enqueue(_ body: [UInt8]) -> Bool {
        guard !self.subject.isEmpty else { return true }
        let envelope = self.isNode ? MessageEnvelope.array : nil
        let isTaken = self.transport.publish(
            self.subject,
            reply: .plain(self.reply),
            self.fitting(body, in: envelope),
            in: envelope,
            headers: [],
            as: .dialog
        )
        self.onAnswer?()
        return isTaken
    }

    /// Returns an answer, or an error when the answer is larger than the server accepts.
    ///
    /// The answer to a batch may be too large even if the answers to its requests are small.
    private func fitting(_ body: [UInt8], in envelope: MessageEnvelope?) -> [UInt8] {
        let (size, limit) = (body.count + (envelope?.size ?? 0), self.transport.payloadLimit)
        if size <= limit { return body }
        let error = RoutingError(
            .notTransferable,
            message:
                "the answer has \(size) bytes, but the server accepts at most \(limit); send smaller batches"
        )
        return RPCSession.answer(to: .null, RPCFailure(wholly: error))
    }

    func claim(_ id: RPCID) {
        guard self.isNode else { return }
        var writer = JSONWriter()
        writer.raw("{\"jsonrpc\":\"2.0\",\"method\":\"\(SystemMethod.claim)\",\"params\":{\"id\":")
        writer.id(id)
        writer.raw("}}")
        self.enqueue(writer.bytes)
    }

    func objection(to result: JSONText) -> RoutingError? {
        // The message around the value, with the name of its type, adds at most 256 bytes and four levels of
        // nesting.
        let limit = self.transport.payloadLimit - 256
        if result.range.count > limit {
            return RoutingError(
                .notTransferable,
                message: "the reply has \(result.range.count) bytes, but the server accepts at most \(limit)"
            )
        }
        return result.objection(depthLimit: JSONText.depthLimit - 4)
    }

    // The transport sends messages in batches by itself.
    nonisolated(nonsending) func flush() async {}
    func flushSoon() {}
}
