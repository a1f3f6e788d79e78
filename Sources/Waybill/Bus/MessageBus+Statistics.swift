internal import WaybillRouting

extension MessageBus {
    /// The books: how many messages were sent, and how each ended.
    public var statistics: BusStatistics { self.core.books.statistics }

    /// The books of each route that is registered now, in the order of registration, and then of each connector.
    ///
    /// ```swift
    /// for route in bus.routeStatistics where route.counts.failed > 0 { print(route) }
    /// ```
    ///
    /// A message counts for its route once its handler has it: one that waits in a mailbox and that nobody awaits is not
    /// there yet, and neither is one whose handler is being called in place. What is in ``statistics`` and in no route
    /// reached none, or a subscriber, or a route that has been unregistered since:
    ///
    /// ```swift
    /// let elsewhere = bus.routeStatistics.reduce(bus.statistics) { $0 - $1.counts }
    /// print(elsewhere.deadLettered, "messages led nowhere")
    /// ```
    ///
    /// The numbers are read one after the other, so that they fit together exactly only while nothing moves. Reading
    /// them goes through all routes; it is not for every message.
    public var routeStatistics: [RouteStatistics] {
        let routes = try? self.core.directory.read { table throws(RoutingError) in
            table.routes.compactMap { route in
                table.handler(for: route.id).map { handler in
                    RouteStatistics(
                        pattern: "\(route.pattern)",
                        fileID: route.fileID,
                        line: route.line,
                        counts: handler.statistics
                    )
                }
            }
        }
        return (routes ?? []) + self.core.directory.connections.all.map(\.statistics)
    }
}
