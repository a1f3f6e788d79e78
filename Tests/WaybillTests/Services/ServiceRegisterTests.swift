import Testing
internal import WaybillRouting
import WaybillTestSupport

@testable internal import Waybill

@Suite
struct ServiceRegisterTests {
    @Test(arguments: [false, true])
    func `random services are found as in a plain list`(replaces: Bool) throws {
        let keys: [ServiceKey] = [nil, "north", "south"].flatMap { name in
            [ServiceKey((any First).self, name), ServiceKey((any Second).self, name)]
        }
        for seed in 0..<UInt64(Scale.of(40)) {
            var generator = SeededGenerator(seed: seed)
            var register = ServiceRegister()
            var model: [(id: Int, offer: ServiceOffer)] = []
            var ids: [Int] = []
            for step in 0..<100 {
                let key = keys[generator.number(below: keys.count)]
                if generator.isOne(in: 2) {
                    let source: ServiceOffer.Source =
                        generator.isOne(in: 3)
                        ? .adapter(0, from: ServiceKey((any Third).self), adapt: { _ in nil }) : .maker(0)
                    let isRefused = !replaces && model.contains { $0.offer.key == key }
                    let offer = ServiceOffer(key: key, source: source)
                    switch Result(catching: {
                        try register.add(offer, fileID: "A", line: step, replaces: replaces)
                    }) {
                    case .success(let id):
                        try #require(!isRefused && !ids.contains(id), "seed \(seed), step \(step)")
                        ids.append(id)
                        model.removeAll { $0.offer.key == key }
                        model.append((id, offer))
                    case .failure(let error):
                        let code = (error as? RoutingError)?.code
                        try #require(isRefused && code == .conflict, "seed \(seed), step \(step)")
                    }
                } else if let id = ids.randomElement(using: &generator) {
                    let removed = register.remove(id)
                    try #require(removed?.key == model.first { $0.id == id }?.offer.key)
                    model.removeAll { $0.id == id }
                }
                try #require(register.keys == model.map(\.offer.key), "seed \(seed), step \(step)")
                for key in keys {
                    let same = model.first { $0.offer.key == key }
                    let adapter = model.first { $0.offer.key == key.named(nil) && $0.offer.isAdapter }
                    try #require(register.offer(for: key)?.key == (same ?? adapter)?.offer.key)
                }
            }
        }
    }

    @Test
    func `the error of a service conflict names the rival`() throws {
        var register = ServiceRegister()
        _ = try register.add(.provider(of: (any First).self), fileID: "Clock.swift", line: 7, replaces: false)
        let error = #expect(throws: RoutingError.self) {
            try register.add(.provider(of: (any First).self), fileID: "Other.swift", line: 1, replaces: false)
        }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("`First` is already provided (Clock.swift:7)") == true)
    }

    @Test
    func `the service register follows adapters to their last provider`() throws {
        var register = ServiceRegister()
        _ = try register.add(
            .adapter(of: (any First).self, from: (any Second).self),
            fileID: "A",
            line: 1,
            replaces: false
        )
        #expect(register.problem(with: ServiceKey((any First).self))?.code == .noHandler)
        #expect(register.problemsWithAdapters().map(\.code) == [.noHandler])
        let second = try register.add(
            .adapter(of: (any Second).self, from: (any First).self),
            fileID: "A",
            line: 2,
            replaces: false
        )
        #expect(register.problem(with: ServiceKey((any First).self))?.code == .infiniteRecursion)
        // The two adapters lead to each other, which is one problem.
        #expect(register.problemsWithAdapters().map(\.code) == [.infiniteRecursion])
        _ = register.remove(second)
        _ = try register.add(.provider(of: (any Second).self), fileID: "A", line: 3, replaces: false)
        #expect(register.problem(with: ServiceKey((any First).self)) == nil)
        #expect(register.problem(withServiceNamed: "First") == nil)
        #expect(register.problem(withServiceNamed: "Third")?.code == .noHandler)
        #expect(register.problemsWithAdapters().isEmpty)
    }
}

private protocol First {}
private protocol Second {}
private protocol Third {}

extension ServiceOffer {
    fileprivate static func provider(of type: any Any.Type) -> Self {
        Self(key: ServiceKey(type), source: .maker(0))
    }

    fileprivate static func adapter(of type: any Any.Type, from other: any Any.Type) -> Self {
        Self(
            key: ServiceKey(type),
            source: .adapter(0, from: ServiceKey(other), adapt: { _ in nil })
        )
    }

    fileprivate var isAdapter: Bool {
        if case .adapter = self.source { true } else { false }
    }
}
