internal import WaybillEventLoop

/// A source of random numbers that yields the same numbers for the same seed, in every process.
///
/// It is a `RandomNumberGenerator` with reference semantics, so a copy continues the same sequence. The
/// algorithm is SplitMix64 (Steele, Lea and Flood, 2014).
public final class SimulationRandom: RandomNumberGenerator, Sendable {
    private let state: Locked<UInt64>

    /// Creates a source.
    ///
    /// - Parameter seed: Any number; equal seeds yield equal sequences.
    public init(seed: UInt64) { self.state = Locked(seed) }

    /// Returns the next number of the sequence.
    public func next() -> UInt64 {
        var word = self.state.withLock { state in
            state &+= 0x9e37_79b9_7f4a_7c15
            return state
        }
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }

    /// Returns a random element of a collection, which must not be empty.
    public func pick<Elements: Collection>(_ elements: Elements) -> Elements.Element {
        precondition(!elements.isEmpty, "`pick` needs a collection that is not empty")
        let offset = self.int(in: 0...elements.count - 1)
        return elements[elements.index(elements.startIndex, offsetBy: offset)]
    }

    /// Returns a random whole number of a range.
    public func int(in range: ClosedRange<Int>) -> Int {
        var generator = self
        return Int.random(in: range, using: &generator)
    }

    /// Returns a random duration of a range, in whole milliseconds.
    public func duration(in range: ClosedRange<Duration>) -> Duration {
        .milliseconds(self.int(in: range.lowerBound.milliseconds...range.upperBound.milliseconds))
    }

    /// Returns true with a probability from 0 to 1.
    public func bool(odds: Double = 0.5) -> Bool {
        Double(self.next() >> 11) * 0x1p-53 < odds
    }

    /// Returns another source, for a part of a simulation.
    func derived(_ number: Int) -> SimulationRandom {
        let seed = self.state.withLock { $0 } ^ (UInt64(truncatingIfNeeded: number) &* 0xd134_2543_de82_ef95)
        return SimulationRandom(seed: SimulationRandom(seed: seed).next())
    }
}

extension Duration {
    /// The whole milliseconds of the duration.
    var milliseconds: Int {
        let (seconds, attoseconds) = self.components
        let (product, overflows) = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000)
        return overflows ? .max / 2 : product + Int(attoseconds / 1_000_000_000_000_000)
    }
}
