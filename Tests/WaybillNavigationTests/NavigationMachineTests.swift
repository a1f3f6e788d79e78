import Testing
import WaybillRouting

@testable import WaybillNavigation

@Suite
struct NavigationMachineTests {
    typealias Draft = NavigationMachine.Draft

    private var machine = NavigationMachine()

    private mutating func add(_ url: String, _ transition: RouteTransition = .push) throws {
        _ = try self.machine.begin(.add(.of(url, transition)), on: "main")
        self.machine.commit()
    }

    private mutating func take(_ step: NavigationMachine.Step) throws -> NavigationMachine.Plan {
        let plan = try self.machine.begin(step, on: "main")
        self.machine.commit()
        return plan
    }

    private var urls: [String] { self.machine.state.stack(of: "main").map(\.url) }

    @Test
    mutating func `going back removes the top destination, whatever transition brought it there`() throws {
        for (url, transition) in [("a", .root), ("b", .push), ("c", .present), ("d", .embed)]
            as [(String, RouteTransition)]
        {
            try self.add(url, transition)
        }
        for rest in [["a", "b", "c"], ["a", "b"], ["a"]] {
            let plan = try self.take(.back(1))
            #expect(plan.removed.count == 1)
            #expect(self.urls == rest)
        }
        #expect(throws: NavigationMachine.Refusal.nothingBelow(wanted: 1, there: 0)) {
            try self.machine.begin(.back(1), on: "main")
        }
    }

    @Test
    mutating func `an abandoned step leaves the state unchanged, and its ID is not used again`() throws {
        try self.add("a")
        let before = self.machine.state
        let plan = try self.machine.begin(.add(.of("b", .push)), on: "side")
        #expect(throws: NavigationMachine.Refusal.busy) { try self.machine.begin(.back(1), on: "main") }
        self.machine.giveUp()
        #expect(self.machine.state == before)
        #expect(self.machine.state.active == "main")
        try self.add("b")
        #expect(self.machine.state.top()?.id != plan.added[0].id)
    }

    @Test
    mutating func `removing a layer removes those above it, and removing a destination its parts`() throws {
        try self.add("a")
        try self.add("b")
        try self.add("part", .embed)
        try self.add("sheet", .present)
        try self.add("c")
        #expect(self.machine.state.layers().map { $0.map(\.url) } == [["a", "b", "part"], ["sheet", "c"]])
        var other = self
        let ids = self.machine.state.stack().map(\.id)
        #expect(try self.take(.remove(ids[1])).removed.map(\.url) == ["part", "b"])
        #expect(self.urls == ["a", "sheet", "c"])
        #expect(try other.take(.remove(ids[3])).removed.map(\.url) == ["c", "sheet"])
        #expect(throws: NavigationMachine.Refusal.isRoot) {
            try other.machine.begin(.remove(ids[0]), on: "main")
        }
    }

    @Test
    mutating func `a reused destination keeps its parts and its place, and those above are removed`() throws {
        try self.add("a")
        try self.add("b")
        try self.add("part", .embed)
        try self.add("c", .present)
        let id = self.machine.state.stack()[1].id
        let plan = try self.take(.reuse(id, .of("b?x=1", .push)))
        #expect(plan.removed.map(\.url) == ["c"])
        #expect(plan.updated?.id == id)
        #expect(self.urls == ["a", "b?x=1", "part"])
        _ = try self.take(.reuse(id, .of("b", .root)))
        #expect(self.urls == ["b", "part"])
        #expect(self.machine.state.stack()[0].transition == .root)
    }

    @Test
    mutating func `embedding into an empty stack fails`() {
        #expect(throws: NavigationMachine.Refusal.nothingToEmbedIn) {
            try self.machine.begin(.add(.of("a", .embed)), on: "main")
        }
    }

    /// Compares the machine with a model that keeps screens in layers, each with its parts.
    @Test(arguments: 0..<40)
    mutating func `random steps agree with a plain model, including steps that fail`(seed: UInt64) throws {
        var random = Random(seed: seed &+ 1)
        var model = LayerModel()
        for round in 0..<300 {
            let before = self.machine.state
            let step = Self.step(&random, before, round)
            let expected = model.after(step)
            let doesFail = random.next() % 4 == 0
            guard let plan = try? self.machine.begin(step, on: "main") else {
                #expect(expected == nil, "\(step) was refused in \(before)")
                #expect(self.machine.state == before)
                continue
            }
            let wanted = try #require(expected, "\(step) was not refused in \(before)")
            #expect(plan.after.map(\.url) == wanted.urls, "\(step) in \(before)")
            let kept = Set(plan.after.map(\.id))
            #expect(plan.removed.map(\.id) == plan.before.reversed().map(\.id).filter { !kept.contains($0) })
            #expect(Set(plan.added.map(\.id)) == kept.subtracting(plan.before.map(\.id)))
            if doesFail {
                self.machine.giveUp()
                #expect(self.machine.state == before)
            } else {
                self.machine.commit()
                model = wanted
                #expect(self.machine.state.layers().map { $0.map(\.url) } == wanted.layerURLs)
            }
        }
    }

    private static func step(
        _ random: inout Random,
        _ state: NavigationState,
        _ round: Int
    ) -> NavigationMachine.Step {
        let stack = state.stack(of: "main")
        let some = stack.isEmpty ? 0 : stack[random.index(stack.count)].id
        let kinds: [RouteTransition] = [.push, .push, .present, .embed, .show, .root]
        switch random.index(10) {
        case 0...4: return .add(.of("u\(round)", kinds[random.index(round % 9 == 0 ? 6 : 5)]))
        case 5: return .back(1 + random.index(3))
        case 6: return .backTo(some)
        case 7: return .remove(some)
        case 8: return .reuse(some, .of("r\(round)", random.index(6) == 0 ? .root : .push))
        default:
            guard random.index(10) == 0 else { return .back(1) }
            return .replace((0..<random.index(4)).map { .of("s\(round).\($0)", $0 == 0 ? .root : .push) })
        }
    }
}

extension NavigationMachine.Draft {
    fileprivate static func of(_ url: String, _ transition: RouteTransition) -> Self {
        Self(url: url, link: "\(transition) \(url)", name: url, transition: transition)
    }
}

/// A generator whose numbers are the same in each run.
private struct Random {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed &* 0x9e37_79b9_7f4a_7c15 }

    mutating func next() -> UInt64 {
        self.state ^= self.state << 13
        self.state ^= self.state >> 7
        self.state ^= self.state << 17
        return self.state
    }

    mutating func index(_ count: Int) -> Int { Int(self.next() % UInt64(count)) }
}

/// Layers of screens with parts.
///
/// IDs are numbered in the order of creation, as the machine numbers them.
private struct LayerModel {
    struct Screen {
        var id: Int
        var url: String
        var parts: [(id: Int, url: String)] = []
    }

    private var layers: [[Screen]] = []
    private var lastID = 0

    var urls: [String] { self.layerURLs.flatMap(\.self) }

    var layerURLs: [[String]] {
        self.layers.map { $0.flatMap { [$0.url] + $0.parts.map(\.url) } }
    }

    /// Returns the model after a step, or nil if the step is refused.
    ///
    /// An abandoned step uses IDs too.
    mutating func after(_ step: NavigationMachine.Step) -> LayerModel? {
        var next = self
        guard next.take(step) else { return nil }
        self.lastID = next.lastID
        return next
    }

    private mutating func newID() -> Int {
        self.lastID += 1
        return self.lastID
    }

    private mutating func take(_ step: NavigationMachine.Step) -> Bool {
        switch step {
        case .add(let draft): return self.add(draft.url, draft.transition)
        case .back(let count):
            guard count < self.urls.count else { return false }
            for _ in 0..<count { self.pop() }
        case .backTo(let id):
            guard let place = self.place(id) else { return false }
            self.cut(to: place)
        case .remove(let id):
            guard let place = self.place(id), place != Place(layer: 0, screen: 0) else { return false }
            if let part = place.part {
                self.layers[place.layer][place.screen].parts.remove(at: part)
            } else if place.screen == 0 {
                self.layers.removeSubrange(place.layer...)
            } else {
                self.layers[place.layer].remove(at: place.screen)
            }
        case .reuse(let id, let draft):
            guard let place = self.place(id) else { return false }
            self.cut(to: place)
            if let part = place.part {
                self.layers[place.layer][place.screen].parts[part].url = draft.url
                let url = self.layers[place.layer][place.screen].parts[part]
                if draft.transition == .root { self.layers = [[Screen(id: url.id, url: url.url)]] }
            } else {
                self.layers[place.layer][place.screen].url = draft.url
                if draft.transition == .root { self.layers = [[self.layers[place.layer][place.screen]]] }
            }
        case .replace(let drafts):
            self.layers = []
            for draft in drafts { _ = self.add(draft.url, draft.transition) }
        }
        return true
    }

    private mutating func add(_ url: String, _ transition: RouteTransition) -> Bool {
        switch transition {
        case .embed:
            guard !self.layers.isEmpty else { return false }
            let id = self.newID()
            let last = self.layers.count - 1
            self.layers[last][self.layers[last].count - 1].parts.append((id, url))
        case .root: self.layers = [[Screen(id: self.newID(), url: url)]]
        case .present: self.layers.append([Screen(id: self.newID(), url: url)])
        default:
            let screen = Screen(id: self.newID(), url: url)
            if self.layers.isEmpty {
                self.layers = [[screen]]
            } else {
                self.layers[self.layers.count - 1].append(screen)
            }
        }
        return true
    }

    private mutating func pop() {
        let last = self.layers.count - 1
        let screen = self.layers[last].count - 1
        if self.layers[last][screen].parts.popLast() != nil { return }
        self.layers[last].removeLast()
        if self.layers[last].isEmpty { self.layers.removeLast() }
    }

    private struct Place: Equatable {
        var layer: Int
        var screen: Int
        var part: Int?
    }

    private func place(_ id: Int) -> Place? {
        for (layer, screens) in self.layers.enumerated() {
            for (index, screen) in screens.enumerated() {
                if screen.id == id { return Place(layer: layer, screen: index) }
                if let part = screen.parts.firstIndex(where: { $0.id == id }) {
                    return Place(layer: layer, screen: index, part: part)
                }
            }
        }
        return nil
    }

    private mutating func cut(to place: Place) {
        self.layers.removeSubrange((place.layer + 1)...)
        self.layers[place.layer].removeSubrange((place.screen + 1)...)
        if let part = place.part {
            self.layers[place.layer][place.screen].parts.removeSubrange((part + 1)...)
        }
    }
}
