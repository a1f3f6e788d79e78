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
    /// - Throws: `invalidURL`, or `noRoute` with a suggestion.
    @inline(__always)
    func find(_ url: String) throws(RoutingError) -> Found {
        guard let match = try self.match(url), let handler = self[match] else { throw self.noRoute(for: url) }
        return Found(handler: handler, parameters: match.parameters)
    }

    /// Whether a URL leads to a handler that can be reached: its loop runs.
    func canReach(_ url: String) -> Bool {
        guard let match = (try? self.match(url)) ?? nil, let handler = self[match] else { return false }
        return !handler.mailbox.eventLoop.isShutDown && !handler.isGone
    }
}
