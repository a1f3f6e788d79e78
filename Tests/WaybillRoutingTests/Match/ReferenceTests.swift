import Testing
import WaybillTestSupport

@testable import WaybillRouting

@Suite struct ReferenceTests {
    /// The tests use many small tables with few URLs each, because failures depend on the patterns.
    @Test func `the trie matches as the reference matcher does`() throws {
        let rounds = Rounds.count("WAYBILL_REFERENCE_ROUNDS", default: 6_000)
        var routes = RandomRoutes(seed: UInt64(Rounds.count("WAYBILL_SEED", default: 1)))
        var tried = 0
        while tried < rounds {
            var table = RouteTable<Int>()
            var reference = ReferenceMatcher()
            for handler in 0..<Int(routes.random.next() % 8 + 1) {
                let pattern = routes.pattern()
                let isNew = reference.insert(try RoutePattern(pattern), handler)
                let isInserted = (try? table.insert(pattern, handler)) != nil
                #expect(isNew == isInserted, "\(pattern) in \(table.routes.map(\.pattern.text))")
            }
            for _ in 0..<16 {
                tried += 1
                self.compare(table, reference, routes.url())
            }
        }
    }

    @Test func `a table after insertions and removals equals a new table`() throws {
        let rounds = Rounds.count("WAYBILL_REFERENCE_ROUNDS", default: 6_000) / 40
        var routes = RandomRoutes(seed: 2)
        for _ in 0..<rounds {
            var table = RouteTable<Int>()
            var reference = ReferenceMatcher()
            var ids: [Int: RouteID] = [:]
            for handler in 0..<30 {
                if routes.random.chance(40),
                    let victim = ids.keys.min(by: { ($0 &* 7) % 11 < ($1 &* 7) % 11 })
                {
                    if let id = ids.removeValue(forKey: victim) { #expect(table.remove(id) == victim) }
                    reference.remove(victim)
                    continue
                }
                let pattern = routes.pattern()
                guard let id = try? table.insert(pattern, handler) else { continue }
                #expect(reference.insert(try RoutePattern(pattern), handler))
                ids[handler] = id
            }
            var fresh = RouteTable<Int>()
            for (pattern, handler) in reference.patterns.reversed() {
                try fresh.insert(pattern.text, handler)
            }
            #expect(table.count == fresh.count)
            #expect(Set(table.routes.map(\.pattern.text)) == Set(fresh.routes.map(\.pattern.text)))
            #expect(self.size(table.trie) == self.size(fresh.trie))
            for _ in 0..<8 {
                let url = routes.url()
                self.compare(table, reference, url)
                self.compare(fresh, reference, url)
            }
        }
    }

    /// The number of used entries of a trie, which shows whether removals leave entries behind.
    private func size(_ trie: RouteTrie) -> [Int] {
        [
            trie.nodes.count - trie.freeNodes.count, trie.edges.count,
            trie.compoundEdges.count - trie.freeEdges.count,
            trie.leaves.count - trie.freeLeaves.count, trie.paths.count,
        ]
    }

    private func compare(_ table: RouteTable<Int>, _ reference: ReferenceMatcher, _ url: String) {
        do {
            let expected = reference.match(try Address(url))
            let match = try table.match(url)
            let values = match?.parameters.path ?? [:]
            #expect(
                match.flatMap { table[$0] } == expected?.handler && values == expected?.values ?? [:],
                "\(url) in \(table.routes.map(\.pattern.text))"
            )
        } catch {
            Issue.record("\(url): \(error)")
        }
    }
}
