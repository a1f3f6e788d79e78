import Testing
internal import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

@testable internal import Waybill

@Suite
struct WaitingExchangesTests {
    @Test
    func `random operations end as those of a plain list do`() throws {
        let parts = try StateParts()
        for seed in 0..<UInt64(Scale.of(100)) {
            var generator = SeededGenerator(seed: seed)
            var waiting = WaitingExchanges()
            var expected: [Exchange] = []
            let exchanges = (0..<8).map { parts.exchange($0) }
            for step in 0..<100 {
                let exchange = exchanges[generator.number(below: exchanges.count)]
                let index = expected.firstIndex { $0 === exchange }
                switch (generator.number(below: 8), index) {
                case (0, _):
                    let removed = waiting.removeAll { $0 === exchange }
                    try #require(Self.ids(removed) == Self.ids(expected.filter { $0 !== exchange }))
                    expected.removeAll { $0 !== exchange }
                case (1..<5, nil):
                    waiting.add(exchange)
                    expected.insert(exchange, at: 0)
                case (_, let index?):
                    waiting.remove(exchange)
                    expected.remove(at: index)
                // What is in no list is not removed from it.
                default: waiting.remove(exchange)
                }
                let actual = waiting.ids
                try #require(actual == Self.ids(expected), "seed \(seed), step \(step)")
            }
        }
    }

    @Test
    func `a long list holds its exchanges until it ends`() throws {
        let parts = try StateParts()
        weak var last: Exchange?
        do {
            var waiting = WaitingExchanges()
            for id in 0..<100_000 {
                let exchange = parts.exchange(id)
                waiting.add(exchange)
                last = exchange
            }
            #expect(last != nil)
        }
        #expect(last == nil)
    }

    fileprivate static func ids(_ exchanges: [Exchange]) -> [UInt64] { exchanges.map(\.id.rawValue) }
}

extension WaitingExchanges {
    /// The exchanges, the latest first.
    fileprivate var ids: [UInt64] {
        mutating get {
            let all = self.removeAll { _ in false }
            for exchange in all.reversed() { self.add(exchange) }
            return WaitingExchangesTests.ids(all)
        }
    }
}
