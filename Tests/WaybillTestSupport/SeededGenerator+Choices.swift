package import WaybillRouting

extension SeededGenerator {
    /// Returns true in one of a number of cases.
    package mutating func isOne(in cases: Int) -> Bool { Int.random(in: 0..<cases, using: &self) == 0 }

    /// Returns a number from 0 up to a bound, excluding the bound.
    package mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}
