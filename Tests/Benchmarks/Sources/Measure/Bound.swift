/// The limit of a figure.
public enum Bound: Sendable {
    /// A limit in the unit of the figure, such as nanoseconds or megabytes.
    case value(Double)
    /// A limit as a multiple of the peer's time.
    case ratio(Double)

    func holds(for result: Result) -> Bool {
        switch self {
        case .value(let limit): result.value.median <= limit
        case .ratio(let limit): result.ratio.map { $0 <= limit } ?? true
        }
    }

    /// The limit as a cell of the table in Docs/Performance.md.
    func cell(_ unit: Unit) -> String {
        switch self {
        case .value(let limit): unit.withUnit(limit)
        case .ratio(let limit): Format.number(limit, digits: 1)
        }
    }

    func text(_ unit: Unit) -> String {
        switch self {
        case .value(let limit): "<= \(unit.text(limit)) \(unit.rawValue)"
        case .ratio(let limit): "<= \(Format.number(limit, digits: 1))x"
        }
    }
}
