import Testing

@testable import WaybillNATS

struct RecentNumbersTests {
    /// Returns for each number whether it is new.
    private func areNew(_ numbers: [Int]) -> [Bool] {
        var recent = RecentNumbers()
        return numbers.map { recent.insert($0) }
    }

    @Test func `each number of a growing sequence is new once`() {
        #expect(
            self.areNew([0, 0, 1, 1, 2, 70, 70, 200, 1_000_000, 1_000_000]) == [
                true, false, true, false, true, true, false, true, true, false,
            ]
        )
    }

    @Test func `a number that was overtaken is new once`() {
        let numbers = [100, 99, 101, 40, 38]
        #expect(
            self.areNew(numbers + numbers) == [true, true, true, true, true]
                + Array(repeating: false, count: 5)
        )
    }

    @Test func `a forged number does not make the next numbers repetitions`() {
        let numbers = Array(8..<200)
        #expect(self.areNew([7, .max] + numbers).allSatisfy { $0 })
        #expect(
            self.areNew([7, .max] + numbers.flatMap { [$0, $0] }).filter { $0 }.count == numbers.count + 2
        )
    }
}
