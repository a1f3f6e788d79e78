import Testing
internal import WaybillRouting
import WaybillTestSupport

@testable internal import Waybill

@Suite
struct ConnectionsTests {
    @Test
    func `random connections are found as in a plain list`() throws {
        let parts = try StateParts()
        let handler = parts.handler()
        let schemes = ["a", "b", "c", "d"]
        for seed in 0..<UInt64(Scale.of(40)) {
            var generator = SeededGenerator(seed: seed)
            var connections = Connections()
            var model: [(id: Int, scheme: String)] = []
            for step in 0..<100 {
                let scheme = schemes[generator.number(below: schemes.count)]
                switch generator.number(below: 4) {
                case 0, 1:
                    let id = connections.nextID()
                    try #require(model.allSatisfy { $0.id < id }, "seed \(seed), step \(step)")
                    let replaced = connections.add(
                        Connection(
                            id: id,
                            scheme: scheme,
                            handler: handler,
                            connector: StubConnector { _ in 0 },
                            fileID: "File.swift",
                            line: step
                        )
                    )
                    try #require(replaced?.id == model.first { $0.scheme == scheme }?.id)
                    model.removeAll { $0.scheme == scheme }
                    model.append((id, scheme))
                case 2:
                    let removed = connections.remove { $0.scheme == scheme }
                    try #require(removed.map(\.id) == model.filter { $0.scheme == scheme }.map(\.id))
                    model.removeAll { $0.scheme == scheme }
                default:
                    guard generator.isOne(in: 5) else { continue }
                    let removed = connections.remove { $0.id.isMultiple(of: 2) }
                    try #require(removed.map(\.id) == model.map(\.id).filter { $0.isMultiple(of: 2) })
                    model.removeAll { $0.id.isMultiple(of: 2) }
                }
                try #require(connections.all.map(\.id) == model.map(\.id), "seed \(seed), step \(step)")
                try #require(Set(connections.schemes) == Set(model.map(\.scheme)))
                for scheme in schemes {
                    try #require(connections[scheme]?.id == model.first { $0.scheme == scheme }?.id)
                }
            }
        }
    }
}
