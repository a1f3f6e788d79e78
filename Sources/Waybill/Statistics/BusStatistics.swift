internal import Synchronization
internal import WaybillRouting

/// The statistics of a bus: the number of messages that were sent, and the number of each outcome.
///
/// The numbers balance at every moment:
/// `sent == replied + failed + expired + cancelled + deadLettered + inFlight`.
public struct BusStatistics: Sendable, Equatable {
    /// The number of messages that were given to the bus.
    public var sent = 0
    /// The number of messages whose handler returned.
    public var replied = 0
    /// The number of messages whose handler threw an error, or whose values did not have the types that the
    /// handler needs.
    ///
    /// The number includes all other failures that have no counter here, for example refusals.
    public var failed = 0
    /// The number of messages whose deadline passed before they had an outcome.
    public var expired = 0
    /// The number of messages whose caller was cancelled before they had an outcome.
    public var cancelled = 0
    /// The number of messages that received no reply because they reached no handler, their handler was
    /// unregistered, or the bus was shut down.
    ///
    /// The number includes failed messages that no caller awaited.
    public var deadLettered = 0
    /// The number of replies that were dropped because their messages already had an outcome.
    ///
    /// These messages are counted by the outcome that they already had.
    public var lateReplies = 0
    /// The number of messages that have no outcome yet.
    ///
    /// If messages end while the statistics are read, the number may include these messages.
    public var inFlight: Int { self.sent - self.ended }

    var ended: Int { self.replied + self.failed + self.expired + self.cancelled + self.deadLettered }

    mutating func include(_ counters: borrowing OutcomeCounters) {
        self.replied += counters.replied.load(ordering: .acquiring)
        self.failed += counters.failed.load(ordering: .acquiring)
        self.expired += counters.expired.load(ordering: .acquiring)
        self.cancelled += counters.cancelled.load(ordering: .acquiring)
        self.deadLettered += counters.deadLettered.load(ordering: .acquiring)
        self.lateReplies += counters.lateReplies.load(ordering: .acquiring)
    }
}

extension BusStatistics: CustomStringConvertible {
    static func + (left: Self, right: Self) -> Self { left.combined(with: right, by: +) }

    /// Returns the difference of two statistics, count by count.
    public static func - (left: Self, right: Self) -> Self { left.combined(with: right, by: -) }

    private func combined(with other: Self, by combine: (Int, Int) -> Int) -> Self {
        Self(
            sent: combine(self.sent, other.sent),
            replied: combine(self.replied, other.replied),
            failed: combine(self.failed, other.failed),
            expired: combine(self.expired, other.expired),
            cancelled: combine(self.cancelled, other.cancelled),
            deadLettered: combine(self.deadLettered, other.deadLettered),
            lateReplies: combine(self.lateReplies, other.lateReplies)
        )
    }

    /// One readable line with every count.
    ///
    /// Late replies are last. They are omitted when their number is 0.
    public var description: String {
        """
        \(self.sent) sent: \(self.replied) replied, \(self.failed) failed, \(self.expired) expired, \
        \(self.cancelled) cancelled, \(self.deadLettered) dead-lettered, \(self.inFlight) in flight\
        \(self.lateReplies == 0 ? "" : ", \(self.lateReplies) replied too late")
        """
    }
}

/// The statistics of one route: the number of messages that reached it, and the number of each outcome.
public struct RouteStatistics: Sendable, Equatable, CustomStringConvertible {
    /// The registered pattern, or a connector's scheme followed by a colon.
    public let pattern: String

    /// The file of the registration, in the form of `#fileID`.
    public let fileID: String

    /// The line of the registration.
    public let line: Int

    /// The counts.
    ///
    /// ``BusStatistics/sent`` is the number of messages that reached the route.
    public let counts: BusStatistics

    /// One readable line with the pattern, the position and the counts.
    public var description: String {
        "\(self.pattern) (\(self.fileID):\(self.line)): \(self.counts)".onOneLine
    }
}

extension MessageBus {
    /// The current statistics of the bus.
    public var statistics: BusStatistics { self.core.statistics.current }

    /// The current statistics of each route, in the order of registration, and then of each connector.
    ///
    /// ```swift
    /// for route in bus.routeStatistics where route.counts.failed > 0 { print(route) }
    /// ```
    ///
    /// A message counts for its route when its handler has received it. A message that no caller awaits
    /// therefore does not count while it waits in a mailbox. A message whose handler is called in place
    /// counts when the handler has returned.
    ///
    /// Some messages are counted in ``statistics`` but not for a current route. These messages reached no
    /// route, reached a subscriber, or reached a route that has been unregistered since:
    ///
    /// ```swift
    /// let elsewhere = bus.routeStatistics.reduce(bus.statistics) { $0 - $1.counts }
    /// print(elsewhere.deadLettered, "messages led nowhere")
    /// ```
    ///
    /// The numbers are read one after the other, so their sums are exact only while no message is delivered.
    /// Reading the property visits all routes, so do not read it with every message.
    public var routeStatistics: [RouteStatistics] {
        let routes = self.core.registry.withTable { table in
            table.entries.map { route, target in
                RouteStatistics(
                    pattern: "\(route.pattern)",
                    fileID: route.fileID,
                    line: route.line,
                    counts: target.statistics
                )
            }
        }
        return routes + self.core.registry.connections.all.map(\.statistics)
    }
}
