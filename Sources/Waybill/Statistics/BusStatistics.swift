internal import Synchronization
internal import WaybillRouting

/// The statistics of a bus: how many messages were sent, and how each ended.
///
/// They balance at every moment:
/// `sent == replied + failed + expired + cancelled + deadLettered + inFlight`.
public struct BusStatistics: Sendable, Equatable {
    /// Messages that were given to the bus.
    public var sent = 0
    /// Messages whose handler returned.
    public var replied = 0
    /// Messages whose handler threw, or whose value was not what the handler needed.
    public var failed = 0
    /// Messages whose deadline passed first.
    public var expired = 0
    /// Messages whose caller was cancelled first.
    public var cancelled = 0
    /// Messages that reached no handler, or whose handler was unregistered, or the bus shut down, before it
    /// replied; and those that no caller awaited and that failed.
    public var deadLettered = 0
    /// Replies that came when their messages had ended otherwise, and were dropped; those messages are
    /// counted by their outcome.
    public var lateReplies = 0
    /// Messages that have not ended yet; read while messages pass, it includes those that have ended
    /// meanwhile.
    public var inFlight: Int { self.sent - self.ended }

    /// Messages that have ended, in whichever way.
    var ended: Int { self.replied + self.failed + self.expired + self.cancelled + self.deadLettered }

    mutating func add(_ counters: Counters) {
        // What ended is read before what was sent: a message in between counts as in flight, never as less
        // than none.
        self.replied += counters.replied.load(ordering: .acquiring)
        self.failed += counters.failed.load(ordering: .acquiring)
        self.expired += counters.expired.load(ordering: .acquiring)
        self.cancelled += counters.cancelled.load(ordering: .acquiring)
        self.deadLettered += counters.deadLettered.load(ordering: .acquiring)
        self.lateReplies += counters.lateReplies.load(ordering: .acquiring)
    }
}

extension BusStatistics: CustomStringConvertible {
    /// The sum of both, count by count.
    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.sent += right.sent
        sum.replied += right.replied
        sum.failed += right.failed
        sum.expired += right.expired
        sum.cancelled += right.cancelled
        sum.deadLettered += right.deadLettered
        sum.lateReplies += right.lateReplies
        return sum
    }

    /// The difference of the two, count by count.
    public static func - (left: Self, right: Self) -> Self {
        var difference = left
        difference.sent -= right.sent
        difference.replied -= right.replied
        difference.failed -= right.failed
        difference.expired -= right.expired
        difference.cancelled -= right.cancelled
        difference.deadLettered -= right.deadLettered
        difference.lateReplies -= right.lateReplies
        return difference
    }

    /// One readable line, with every count; late replies are the last, if there were any.
    public var description: String {
        """
        \(self.sent) sent: \(self.replied) replied, \(self.failed) failed, \(self.expired) expired, \
        \(self.cancelled) cancelled, \(self.deadLettered) dead-lettered, \(self.inFlight) in flight\
        \(self.lateReplies == 0 ? "" : ", \(self.lateReplies) replied too late")
        """
    }
}

/// The statistics of one route: how many messages reached it, and how each ended.
public struct RouteStatistics: Sendable, Equatable, CustomStringConvertible {
    /// The pattern, as it was registered; a connector's scheme, with a colon.
    public let pattern: String

    /// The file of the registration, as `#fileID` names it.
    public let fileID: String

    /// The line of the registration.
    public let line: Int

    /// How many messages reached the route, as ``BusStatistics/sent``, and how each ended.
    public let counts: BusStatistics

    /// One readable line: pattern, place and counts.
    public var description: String {
        "\(self.pattern) (\(self.fileID):\(self.line)): \(self.counts)".onOneLine
    }
}

extension MessageBus {
    /// How many messages were sent, and how each ended.
    public var statistics: BusStatistics { self.core.statistics.current }

    /// The statistics of each route that is registered now, in the order of registration, and then of each
    /// connector.
    ///
    /// ```swift
    /// for route in bus.routeStatistics where route.counts.failed > 0 { print(route) }
    /// ```
    ///
    /// A message counts for its route once its handler has it: a message that no caller awaits does not count
    /// while it waits in a mailbox, and neither does one while its handler is being called in place. What is
    /// in ``statistics`` and in no route reached none, or a subscriber, or a route that has been unregistered
    /// since:
    ///
    /// ```swift
    /// let elsewhere = bus.routeStatistics.reduce(bus.statistics) { $0 - $1.counts }
    /// print(elsewhere.deadLettered, "messages led nowhere")
    /// ```
    ///
    /// The numbers are read one after the other, so that they balance exactly only while no message is
    /// delivered. Reading them goes through all routes; it is not for every message.
    public var routeStatistics: [RouteStatistics] {
        let routes = try? self.core.registry.read { table throws(RoutingError) in
            table.routes.compactMap { route in
                table.handler(for: route.id).map { target in
                    RouteStatistics(
                        pattern: "\(route.pattern)",
                        fileID: route.fileID,
                        line: route.line,
                        counts: target.statistics
                    )
                }
            }
        }
        return (routes ?? []) + self.core.registry.connections.all.map(\.statistics)
    }
}
