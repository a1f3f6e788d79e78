import Testing
import WaybillTestSupport

@testable import WaybillRouting

@Suite struct MatchAllTests {
    private static let conventions: [RoutingConventions] = {
        var mostLiteral = RoutingConventions.waybill
        mostLiteral.bestMatch = .mostLiteral
        var first = RoutingConventions.waybill
        first.bestMatch = .firstRegistered
        return [.waybill, mostLiteral, first]
    }()

    @Test(arguments: Self.conventions.indices)
    func `matchAll finds the same matches as a table for each pattern`(index: Int) throws {
        let conventions = Self.conventions[index]
        var routes = RandomRoutes(seed: UInt64(Rounds.count("WAYBILL_SEED", default: 3)))
        for _ in 0..<Rounds.count("WAYBILL_REFERENCE_ROUNDS", default: 6_000) / 16 {
            var table = RouteTable<Int>(conventions: conventions)
            var alone: [Int: RouteTable<Int>] = [:]
            for number in 0..<Int(routes.random.next() % 12 + 1) {
                let text = routes.pattern()
                guard let pattern = try? RoutePattern(text, conventions: conventions) else { continue }
                guard try table.insertBeside(pattern, number) != nil else { continue }
                var single = RouteTable<Int>(conventions: conventions)
                try single.insert(text, number)
                alone[number] = single
            }
            for _ in 0..<8 { try self.compare(table, alone, routes.url()) }
        }
    }

    private func compare(_ table: RouteTable<Int>, _ alone: [Int: RouteTable<Int>], _ url: String) throws {
        let matches = try table.matchAll(url)
        var found: [Int: [String: String]] = [:]
        for match in matches { found[try #require(table[match])] = match.parameters.path }
        let expected = try alone.compactMapValues { try $0.match(url)?.parameters.path }
        #expect(found == expected, "\(url) in \(table.routes.map(\.pattern.text))")
        #expect(found.count == matches.count, "\(url) in \(table.routes.map(\.pattern.text))")
    }

    @Test func `insertBeside rejects a second pattern of the same shape`() throws {
        var table = RouteTable<Int>()
        #expect(try table.insertBeside(RoutePattern("app://a/:b"), 1) != nil)
        #expect(try table.insertBeside(RoutePattern("app://a/:c"), 2) == nil)
        #expect(try table.insertBeside(RoutePattern("app://a/b"), 3) != nil)
        #expect(try table.matchAll("app://a/b").count == 2)
    }

    @Test func `matchAll keeps more than eight captures`() throws {
        var table = RouteTable<Int>()
        let names = (1...12).map { "n\($0)" }
        let pattern = try RoutePattern("app://" + names.map { ":\($0)" }.joined(separator: "/"))
        _ = try table.insertBeside(pattern, 1)
        _ = try table.insertBeside(RoutePattern("app://**rest"), 2)
        let url = "app://" + names.map { "v\($0)" }.joined(separator: "/")
        let matches = try table.matchAll(url)
        let values = Dictionary(uniqueKeysWithValues: names.map { ($0, "v\($0)") })
        #expect(matches.contains { $0.parameters.path == values })
        #expect(matches.contains { $0.parameters["rest"] == String(url.dropFirst(6)) })
        #expect(matches.count == 2)
    }

    @Test func `insertBeside accepts one pattern under conventions without backtracking`() throws {
        var conventions = RoutingConventions.waybill
        conventions.bestMatch = .literalWithoutBacktracking
        var table = RouteTable<Int>(conventions: conventions)
        #expect(try table.insertBeside(RoutePattern("app://a", conventions: conventions), 1) != nil)
        #expect(try table.insertBeside(RoutePattern("app://b", conventions: conventions), 2) == nil)
        #expect(try table.matchAll("app://a").count == 1)
    }

    @Test func `matchAll with many rests takes polynomial time`() throws {
        var table = RouteTable<Int>()
        _ = try table.insertBeside(RoutePattern("app://**/a/**/a/**/a/**/a/**/end"), 1)
        _ = try table.insertBeside(RoutePattern("app://**/a/**"), 2)
        let url = "app://" + Array(repeating: "a", count: 60).joined(separator: "/")
        #expect(try table.matchAll(url).count == 1)
        #expect(try table.matchAll(url + "/end").count == 2)
    }
}
