internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting
internal import WaybillServe

// Answers to this node's requests.
extension ClusterCore {
    /// Fails the requests whose answers cannot be read.
    ///
    /// If the answer does not name its request, it is possibly several answers, which a node has joined. Then
    /// every request that the node may have answered fails.
    func loseAnswers(with id: RPCID, _ error: JSONError, from reply: String?) {
        if case .number(let id) = id, self.requests[id] != nil {
            let message = "the answer cannot be read: \(error)"
            let failure = RPCFailure(wholly: RoutingError(.notTransferable, message: message))
            return self.deliver(.finished(.failure(failure)), to: id)
        }
        guard let node = reply.flatMap({ self.subjects.node(in: $0) }),
            let member = self.state.withLock({ $0.members[node] })
        else { return }
        let reason = "the node \(self.name(of: node)) has sent several answers together, which cannot be read"
        for (id, request) in self.requests where request.node == node { self.deliver(.lost(reason), to: id) }
        self.loseUnclaimed(of: member, reason)
    }

    func receiveAnswer(_ message: RPCMessage, from node: NodeID?) {
        guard let (id, isClaim) = message.answered else {
            return self.note { $0.malformed += 1 }
        }
        guard self.pending.contains(id), self.requests[id] != nil else {
            self.note { $0.unknown += 1 }
            // The caller stopped waiting before a node claimed the request. The node that now claims the
            // request has to cancel it.
            if isClaim, let node {
                self.tell(node, OutgoingCall.notification(.cancelRequest, id: id, answer: nil), about: id)
            }
            // The value that a node sends for a return URL is logged, because it is lost.
            if !self.pending.contains(id), self.isMember(node) { self.take(message) }
            return
        }
        if let node, self.requests[id]?.node == nil { self.requests[id]?.node = node }
        self.take(message)
    }
}

extension RPCMessage {
    /// The ID of the request to which the message refers, and whether the message is a claim.
    ///
    /// A claim informs the sender of a request that a node handles the request.
    fileprivate var answered: (id: Int, isClaim: Bool)? {
        switch self.content {
        case .result(.number(let id), _), .failure(.number(let id), _): return (id, false)
        case .notification(let method, let params):
            guard let id = params?["id"]?.text.int else { return nil }
            return (id, method == SystemMethod.claim || method == SystemMethod.progress)
        default: return nil
        }
    }
}
