/// The messages that nobody who shuts the bus down waits for, since their handlers are shutting it down themselves.
struct Spared {
    private struct Place {
        weak var exchange: Exchange?
    }

    private var places: [Place] = []

    /// Those that have not ended yet.
    var exchanges: [Exchange] { self.places.compactMap(\.exchange).filter { !$0.isOver } }

    mutating func add(_ exchanges: [Exchange]) {
        self.places.append(contentsOf: exchanges.map(Place.init))
    }
}
