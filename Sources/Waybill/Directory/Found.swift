internal import WaybillEventLoop
internal import WaybillRouting

/// Where a URL leads: the handler, and the values that its pattern took from the URL.
struct Found: Sendable {
    let handler: Handler
    let parameters: Parameters

    /// What handles the message in place of a handler that stands for others, with what a configured target
    /// says.
    ///
    /// - Parameters:
    ///   - loop: the loop that the caller is on, if it is one of the bus's.
    ///   - call: what is passed with the call, which counts first.
    /// - Returns: the handler that is called, and the parameters that it is called with.
    @inline(__always)
    func member(on loop: ObjectIdentifier?, _ call: [String: any Sendable]?) -> Found {
        guard let ensemble = self.handler.ensemble else { return self }
        let parameters =
            ensemble.target?.applied(to: self.parameters, self.handler.core) ?? self.parameters
        return Found(handler: ensemble.member(on: loop, parameters, call), parameters: parameters)
    }

    /// Leaves a message in the handler's mailbox.
    func post(id: CorrelationID, hops: Int, due: Deadline) throws(RoutingError) {
        let message = Message(
            id: id,
            parameters: self.parameters,
            hops: hops,
            due: due,
            extras: nil,
            for: Unretained(self.handler)
        )
        try self.handler.mailbox.post(Envelope(message: message, handler: self.handler))
    }
}

extension RouteTable where Handler == Waybill.Handler {
    /// The handler for a URL.
    ///
    /// - Parameters:
    ///   - url: where to.
    ///   - call: what is passed with the call, which may say which instance of a module is meant.
    ///   - loop: the loop that the caller is on, if it is one of the bus's.
    ///   - connections: the connectors, which take what no route takes.
    /// - Returns: the handler, or the connector's.
    /// - Throws: `invalidURL`, or `noRoute` with a suggestion.
    @inline(__always)
    func find(
        _ url: String,
        _ call: [String: any Sendable]?,
        on loop: ObjectIdentifier?,
        _ connections: Connections
    ) throws(RoutingError) -> Found {
        let match: RouteMatch?
        do throws(RoutingError) {
            match = try self.match(url)
        } catch {
            return try self.findConnector(url, connections, error)
        }
        guard let match, let handler = self[match] else {
            return try self.findConnector(url, connections, nil)
        }
        return Found(handler: handler, parameters: match.parameters).member(on: loop, call)
    }
}
