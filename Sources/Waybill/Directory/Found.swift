internal import WaybillEventLoop
internal import WaybillRouting

/// Where a URL leads: the handler, and the values that its pattern took from the URL.
struct Found: Sendable {
    let handler: Handler
    let parameters: Parameters
}

extension RouteTable where Handler == Waybill.Handler {
    /// The handler for a URL.
    ///
    /// - Parameters:
    ///   - url: where to.
    ///   - call: what is passed with the call, which may say which instance of a module is meant.
    ///   - loop: the loop that the caller is on, if it is one of the bus's.
    /// - Returns: the handler, and the values that its pattern took from the URL.
    /// - Throws: `invalidURL`, or `noRoute` with a suggestion.
    @inline(__always)
    func find(
        _ url: String,
        _ call: [String: any Sendable]?,
        on loop: ObjectIdentifier?
    ) throws(RoutingError) -> Found {
        guard let match = try self.match(url), let handler = self[match] else { throw self.noRoute(for: url) }
        let parameters = match.parameters
        return Found(handler: handler.member(on: loop, parameters, call), parameters: parameters)
    }

    /// Whether a URL leads to a handler that can be reached: its loop runs.
    func canReach(_ url: String) -> Bool {
        guard let match = (try? self.match(url)) ?? nil, let handler = self[match] else { return false }
        return !handler.isUnbound
            && handler.members.contains { !$0.mailbox.eventLoop.isShutDown && !$0.isGone }
    }
}
