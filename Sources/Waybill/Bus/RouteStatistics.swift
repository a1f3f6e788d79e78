internal import WaybillRouting

/// The books of one route: how many messages reached it, and how each ended.
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
