import Testing
import WaybillCompatibility
import WaybillRouting
import WaybillTestSupport

/// Compares the lookup of one name by words with the iteration over all items, on random queries.
///
/// `WAYBILL_QUERY_ROUNDS` sets the number of queries.
@Suite struct QueryItemsTests {
    private static let names = [
        "a", "ab", "page", "uid", "exactly8", "a-long-name", "seventeen-letters", "a=b", "=", "", "&", "é",
        "a\u{0}",
    ]
    private static let atoms =
        Self.names + [
            "&", "&", "=", "=", "1", "-", "+", "1234567", "-9223372036854775808", "9223372036854775808",
            "0000000000000000000007", "'", "!", "%", "%61", "#", "?", "/", "value-of-some-length",
        ]

    @Test func `looking up one query item agrees with reading all of them`() throws {
        var random = SeededGenerator(seed: 11)
        let conventions: [RoutingConventions] = [.waybill, .waybill, .yfRouter, .ftRouter, .cocRouter]
        for round in 0..<Rounds.count("WAYBILL_QUERY_ROUNDS", default: 2_000) {
            var table = RouteTable<Int>(conventions: conventions[round % conventions.count])
            try table.insert("app://read/a", 1)
            var text = "app://read/a?"
            for _ in 0..<random.next() % 12 { text += random.pick(Self.atoms) }
            guard let parameters = try? table.match(text)?.parameters else { continue }
            let all = parameters.query
            for name in Self.names {
                #expect(parameters[name] == all[name], "\(name) of \(text)")
                let read = Result { try parameters.value(name, as: Int.self) }
                if let value = all[name], Int(value) == nil {
                    #expect(throws: RoutingError.self, "\(name) of \(text)") { try read.get() }
                } else {
                    #expect(try read.get() == all[name].flatMap { Int($0) }, "\(name) of \(text)")
                }
            }
        }
    }

    @Test func `query and fragment of an address are those of a plain split`() throws {
        var random = SeededGenerator(seed: 12)
        let atoms = ["?", "#", "x", "'!", "abcdefgh", "/", "é"]
        for _ in 0..<Rounds.count("WAYBILL_QUERY_ROUNDS", default: 2_000) {
            var text = "app://read/a"
            for _ in 0..<random.next() % 8 { text += random.pick(atoms) }
            let address = try Address(text)
            let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let front = parts[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            #expect(address.fragment == (parts.count == 2 ? String(parts[1]) : nil), "\(text)")
            #expect(address.query == (front.count == 2 ? String(front[1]) : nil), "\(text)")
        }
    }
}
