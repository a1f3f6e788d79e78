internal import WaybillRouting

extension Handler {
    /// Who handles a message in this handler's place: itself, unless it stands for several.
    @inline(__always)
    func member(
        on loop: ObjectIdentifier?,
        _ parameters: borrowing Parameters,
        _ call: [String: any Sendable]?
    ) -> Handler {
        guard let ensemble = self.ensemble else { return self }
        return ensemble.member(on: loop, parameters, call)
    }

    /// The handlers that it stands for, or itself.
    var members: [Handler] { self.ensemble?.members ?? [self] }

    /// The books of the route.
    var statistics: BusStatistics { self.members.reduce(BusStatistics()) { $0 + $1.counters.statistics } }
}
