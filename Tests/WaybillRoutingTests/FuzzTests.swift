import Testing
import WaybillCompatibility
import WaybillTestSupport

@testable import WaybillRouting

/// Random texts, which may be rejected and must never trap.
///
/// The generator is seeded, so failures can be reproduced; `WAYBILL_FUZZ_ROUNDS` sets the number of URLs, and
/// a tenth of it is the number of patterns.
@Suite struct FuzzTests {
    private static let seeds = [
        "app://user/detail?uid=1&name=Lili#home/receipt", "https://z.coc.com/%E5%80%BC/?k=a=b=c",
        "//a//b//?&&=&=x&y",
        "app:///a/b-c/12/x.jpg", "PUSH://push/%ff/%zz%2", "a%00b/\u{0}/é🍌", "::::", "app:?#?#",
        "%61pp%3A%2F%2Fa%2Fb%3Fk",
        "/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/b",
    ]
    private static let patternSeeds = [
        "app://user/:id(\\d+)/<int:n>", "/a(/b(/:c))(/**rest)", "{p}-{q}.jpg", ":p([a-z]{2,4}|x*)y",
        "**/a/**/b/**", "*.*",
        "<path:r>/<uuid:u>/<double:d>", "/:p(^(?:a|b)+?$)", "a%3Ab/%2A/(/(/(/", ":p([]^-\\]]+)", "<z>.<y>/",
    ]
    private static let atoms = [
        "/", "//", "?", "#", "%", "%2", "%2F", "%FF", "&", "=", ":", "::", "*", "**", "(", "(/", ")", "{",
        "}", "<", ">", "\\",
        "[", "]", "^", "$", "|", "+", "{2,3}", "a", "b", "é", "\u{0}", "🍌", " ", ".", "-", "1", "<int:n>",
        ":p", "{q}", "app:",
    ]

    private static let tables: [RouteTable<Int>] = {
        let presets: [RoutingConventions] = [.waybill, .yfRouter, .ftRouter, .cocRouter, .zikRouter]
        return presets.map { conventions in
            var table = RouteTable<Int>(conventions: conventions)
            for (index, pattern) in Self.patternSeeds.enumerated() {
                _ = try? table.insert(pattern, index)
                _ = try? table.insert("app://\(pattern)", index)
            }
            return table
        }
    }()

    @Test func `no random URL traps the matcher`() {
        let rounds = Rounds.count("WAYBILL_FUZZ_ROUNDS", default: 20_000)
        var random = SeededGenerator(seed: UInt64(Rounds.count("WAYBILL_SEED", default: 3)))
        var matched = 0
        for round in 0..<rounds {
            let url = Self.mutated(random.pick(Self.seeds), &random)
            let table = Self.tables[round % Self.tables.count]
            if let match = try? table.match(url) {
                matched += 1
                let parameters = match.parameters
                _ = parameters.all
                _ = parameters["p"]
                _ = try? parameters.value("n", as: Int.self)
                _ = parameters.all("k")
            }
            guard round % 16 == 0, let address = try? Address(url, conventions: table.conventions) else {
                continue
            }
            _ = (address.segments, address.path, address.query, address.fragment, address.scheme)
            #expect(address == address)
            if round % 128 == 0 { _ = table.explain(url).trace }
        }
        #expect(matched > 0)
    }

    @Test func `no random pattern traps the parser`() {
        let rounds = Rounds.count("WAYBILL_FUZZ_ROUNDS", default: 20_000) / 10
        var random = SeededGenerator(seed: UInt64(Rounds.count("WAYBILL_SEED", default: 4)))
        var table = RouteTable<Int>()
        for round in 0..<rounds {
            let text = Self.mutated(random.pick(Self.patternSeeds), &random)
            guard let pattern = try? RoutePattern(text) else { continue }
            #expect(pattern == pattern)
            let values = Dictionary(
                pattern.parameters.map { ($0.name, random.pick(["1", "a", "a/b", "true", "%", "é", "ab"])) },
                uniquingKeysWith: { $1 }
            )
            _ = try? pattern.url(with: values)
            _ = try? table.insert(text, round)
            _ = try? table.match(Self.mutated(text, &random))
            if table.count > 200 { table.removeAll() }
        }
    }

    /// Returns a text with a few bytes changed, removed, repeated or inserted.
    private static func mutated(_ seed: String, _ random: inout SeededGenerator) -> String {
        var bytes = Array(seed.utf8)
        for _ in 0...Int(random.next() % 4) {
            let at = bytes.isEmpty ? 0 : Int(random.next() % UInt64(bytes.count))
            switch random.next() % 5 {
            case 0 where !bytes.isEmpty: bytes[at] = UInt8(truncatingIfNeeded: random.next())
            case 1 where !bytes.isEmpty: bytes.remove(at: at)
            case 2: bytes.insert(contentsOf: bytes[at...].prefix(Int(random.next() % 24)), at: at)
            default: bytes.insert(contentsOf: random.pick(Self.atoms).utf8, at: at)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
