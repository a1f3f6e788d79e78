import Testing
import WaybillRouting

@Suite(.timeLimit(.minutes(1))) struct EditDistanceTests {
    private func distance(_ left: String, _ right: String, limit: Int) -> Int? {
        EditDistance.between(Array(left.utf8), Array(right.utf8), limit: limit)
    }

    @Test(arguments: [
        ("", "", 0), ("detail", "detail", 0), ("detail", "detial", 1), ("detail", "detal", 1), ("a", "b", 1),
        ("kitten", "sitting", 3), ("ab", "ba", 1), ("", "abc", 3), ("abcd", "badc", 2),
    ])
    func `the edit distance counts insertions, removals, replacements and swaps, up to a limit`(
        left: String,
        right: String,
        count: Int
    ) {
        for (left, right) in [(left, right), (right, left)] {
            for limit in count..<count + 3 { #expect(self.distance(left, right, limit: limit) == count) }
            if count > 0 { #expect(self.distance(left, right, limit: count - 1) == nil) }
        }
    }

    @Test(arguments: [(100_000, 100_000), (100_000, 99_990), (100_000, 3)])
    func `texts of very different length or content are not compared completely`(left: Int, right: Int) {
        let texts = ([UInt8](repeating: 97, count: left), [UInt8](repeating: 98, count: right))
        #expect(EditDistance.between(texts.0, texts.1, limit: 12) == nil)
    }
}
