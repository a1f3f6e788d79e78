internal import WaybillRouting

/// The choices of one run: which work runs next, and which faults happen.
///
/// Every choice has a default, the number 0: the work that has waited longest runs next, and no fault
/// happens. A run is determined by its seed and by the choices that differ from their default.
struct Decisions {
    /// The kind of a choice; each kind is counted on its own, so that removing a choice leaves most in place.
    enum Kind: Int, CaseIterable {
        /// The work that runs next.
        case order
        /// How long work waits although it could run.
        case hold
        /// After how many deliveries work must suspend.
        case suspend
        /// The delay of a message or a reply.
        case delay
        /// The failure or cancellation of a message.
        case failure
        /// The crash of a node, or the time until it starts again.
        case crash
        /// The node that receives a message.
        case receiver

        /// The letter of the kind in the text of decisions.
        var letter: Character { Array("ohsdfcr")[self.rawValue] }

        init?(letter: Character) {
            guard let kind = Self.allCases.first(where: { $0.letter == letter }) else { return nil }
            self = kind
        }
    }

    /// A position in a run: the number of choices of a kind that were made before.
    struct Position: Hashable {
        let kind: Kind
        let index: Int
    }

    /// A choice that differs from its default.
    struct Decision: Equatable {
        let position: Position
        let value: Int
    }

    private enum Source {
        case random(SeededGenerator)
        case replay([Position: Int])
    }

    private var source: Source
    /// The number of choices of each kind.
    private var counts = Array(repeating: 0, count: Kind.allCases.count)
    /// The choices so far that differ from their default.
    private(set) var made: [Decision] = []

    /// Creates a source that makes random choices.
    init(seed: UInt64) { self.source = .random(SeededGenerator(seed: seed)) }

    /// Creates a source that repeats choices; every other choice has its default.
    init(replaying decisions: [Decision]) {
        self.source = .replay(Dictionary(decisions.map { ($0.position, $0.value) }) { first, _ in first })
    }

    /// Returns a number below `bound`; `odds` is the probability of a value other than the default, 0.
    mutating func choose(_ kind: Kind, below bound: Int, odds: Double) -> Int {
        guard case .random(var generator) = self.source else {
            return self.choose(kind, below: bound) { 0 }
        }
        var value = 0
        if odds > 0, bound > 1, Double(generator.next() >> 11) * 0x1p-53 < odds {
            value = Int.random(in: 1...bound - 1, using: &generator)
        }
        self.source = .random(generator)
        return self.choose(kind, below: bound) { value }
    }

    /// Makes a choice that a closure proposes, unless the run is repeated or only one value is possible.
    mutating func choose(
        _ kind: Kind,
        below bound: Int,
        proposing proposal: () -> Int
    ) -> Int {
        let position = Position(kind: kind, index: self.counts[kind.rawValue])
        self.counts[kind.rawValue] += 1
        guard bound > 1 else { return 0 }
        let value: Int
        switch self.source {
        case .random: value = proposal()
        case .replay(let values): value = values[position].map { $0 % bound } ?? 0
        }
        if value != 0 { self.made.append(Decision(position: position, value: value)) }
        return value
    }
}

extension Decisions {
    /// Returns the text of decisions, for ``simulate(seed:decisions:faults:schedule:limits:_:)``.
    static func text(of decisions: [Decision]) -> String {
        decisions.map { "\($0.position.kind.letter)\($0.position.index)=\($0.value)" }.joined(
            separator: " "
        )
    }

    /// Reads the text of decisions.
    static func parse(_ text: String) throws(SimulationError) -> [Decision] {
        var decisions: [Decision] = []
        for part in text.split(separator: " ") {
            let numbers = part.dropFirst().split(separator: "=", omittingEmptySubsequences: false).map {
                Int($0)
            }
            guard let kind = part.first.flatMap({ Kind(letter: $0) }), numbers.count == 2,
                let index = numbers[0], let value = numbers[1], index >= 0, value > 0
            else { throw .invalidDecisions(String(part)) }
            decisions.append(Decision(position: Position(kind: kind, index: index), value: value))
        }
        return decisions
    }
}
