#if HTTP
internal import Hummingbird
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

extension WaybillGateway {
    /// Responds to a request with the messages of the pattern in its query, as server-sent events.
    ///
    /// The address of the client is nil if it is unknown.
    func subscribe(_ request: Request, from client: String?) async throws -> Response {
        let query = try FormItems(Array((request.uri.query ?? "").utf8))
        guard let pattern = query["pattern"], !pattern.isEmpty else {
            throw Problem(
                .badRequest,
                "the parameter `pattern` is missing: add the pattern to subscribe to, as in ?pattern=app://prices/**"
            )
        }
        let format = query["format"] ?? "json"
        guard ["json", "cloudevents"].contains(where: { format.hasSameBytes(as: $0) }) else {
            throw Problem(.badRequest, "`format` must be json or cloudevents")
        }
        let lastID = request.headers[.lastEventID]
        // A feed counts too, so only a client whose stream can begin enters a feed.
        let request = try await self.streams.collectingNoBody(of: request)
        let stream = try self.streams.take(for: client)
        let feeds = self.feeds
        let place: FeedClient
        do throws(RoutingError) {
            place = try feeds.enter(
                FeedName(
                    pattern: ExactText(pattern),
                    source: format.hasSameBytes(as: "json") ? nil : ExactText(request.source)
                ),
                from: client
            )
        } catch {
            if error.code == .invalidPattern { throw Problem(.badRequest, error.message) }
            throw error
        }
        return self.streams.response(to: request, at: stream) { sink in
            await place.feed.send(after: place.number, or: lastID, to: sink, of: client)
        }
    }
}
#endif
