import Foundation
import Testing
import Waybill
import WaybillNavigation

/// The saved state of a program.
struct Saved: Decodable {
    let state: NavigationState
    init(from decoder: any Decoder) throws { self.state = try NavigationState(from: decoder) }
}

struct SavedEntry: Decodable {
    let entry: NavigationEntry
    init(from decoder: any Decoder) throws { self.entry = try NavigationEntry(from: decoder) }
}

/// Shows screens as words, and counts its calls.
@MainActor
final class WordPresenter: Presenter {
    private(set) var words: [String] = []
    private(set) var updates = 0
    private(set) var removals: [Int] = []
    private(set) var animated: [Bool?] = []

    @MainActor func show(_ change: NavigationChange) async throws {
        if change.added.contains(where: { $0.entry.name == "forbidden" }) {
            throw RoutingError.refused("not for everybody")
        }
        if change.source == nil, !change.removed.isEmpty { throw RoutingError.refused("gone from nowhere") }
        self.words = change.stack.map { "\($0.value)" }
        self.animated.append(try change.request?.parameters.value("animated", as: Bool.self))
    }

    @MainActor func update(_ change: NavigationChange) async throws {
        if change.updated != nil { self.updates += 1 }
        self.words = change.stack.map { "\($0.value)" }
    }

    @MainActor func remove(_ change: NavigationChange) async throws {
        self.removals += change.removed.map(\.id)
        self.animated.append(nil)
        self.words = change.stack.map { "\($0.value)" }
    }
}

struct ArticleScreen: Decodable, Sendable, CustomStringConvertible {
    let id: Int
    var description: String { "article \(self.id)" }
}

struct BasketScreen: Decodable, ReusableDestination, CustomStringConvertible {
    var add: String?
    var description: String { "basket with \(self.add ?? "nothing")" }
}

actor NoteScreen: ReusableDestination, CustomStringConvertible {
    private var request: NavigationRequest
    nonisolated var description: String { "note" }

    init(_ request: NavigationRequest) { self.request = request }

    func reused(for request: NavigationRequest) async throws -> Self {
        self.request = request
        return self
    }

    func save(_ text: String) async throws -> Bool {
        await self.request.reply(with: "draft of \(text)")
        return try await self.request.reply(with: text, expecting: Bool.self)
    }

    func finish(_ text: String) async throws {
        self.request.setResult("not this")
        try await self.request.close(returning: text)
    }
}

/// Refuses some requests, and wraps presented destinations.
final class Guard: NavigationInspector {
    let seen = Log()

    nonisolated(nonsending) func shouldTransition(
        _ request: NavigationRequest,
        from source: PresentedDestination?
    ) async throws -> Bool { request.query["stop"] == nil }

    nonisolated(nonsending) func willTransition(
        _ request: NavigationRequest,
        from source: PresentedDestination?,
        make: nonisolated(nonsending) () async throws -> any Sendable
    ) async throws -> (any Sendable)? {
        request.transition == .present ? "sheet of \(try await make())" : nil
    }

    nonisolated(nonsending) func didTransition(
        _ request: NavigationRequest,
        result: Result<NavigationChange, RoutingError>
    ) async {
        switch result {
        case .success(let change):
            seen.add("\(change.transition) on \(change.presenter): \(change.stack.count)")
        case .failure(let error): seen.add("\(error.code)")
        }
    }
}

final class Log: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []
    var entries: [String] { self.lock.withLock { self.lines } }
    func add(_ line: String) { self.lock.withLock { self.lines.append(line) } }
}

/// Navigation in a program with screens.
struct NavigationTests {
    private let bus = MessageBus(configuration: .init(conventions: .navigation))

    @Test func `a navigator pushes, presents, reuses and restores screens`() async throws {
        let presenter = WordPresenter()
        let navigator = try Navigator(bus: bus, presenter: presenter)
        try navigator.register("app://article/:id", ArticleScreen.self)
        try navigator.register("app://basket", BasketScreen.self, named: "basket")
        try navigator.register("app://secret", named: "forbidden") { _ in "secret" }
        let kinds: [RouteTransition] = [
            .push, .present, .back, .root, .show, .embed, .remove, "slide", RouteTransition(rawValue: "Fade"),
        ]
        #expect(kinds.map(\.description).joined() == "pushpresentbackrootshowembedremoveslidefade")
        var conventions = RoutingConventions.navigation
        conventions.host = .isIgnored
        #expect(try Address("app://host/push/x", conventions: conventions).host == "host")
        try bus.register("app://plain") { message in message.transition == .present }
        #expect(try await bus.route("app://present/plain", as: Bool.self))
        #expect(navigator.eventLoop === bus.eventLoop)
        let transition = try Address("app://push/article/1", conventions: .navigation).transition
        #expect(transition == .push && transition?.rawValue == "push" && "\(RouteTransition.root)" == "root")
        try await bus.route("app://root/article/1")
        try await bus.route("app://push/basket?add=tea")
        try await bus.route("app://present/article/2")
        #expect(await presenter.words == ["article 1", "basket with tea", "article 2"])
        try await bus.route("app://show/basket?add=pot")
        #expect(await presenter.words == ["article 1", "basket with pot"])
        #expect(await presenter.updates == 1)
        await #expect(throws: RoutingError.self) { try await bus.route("app://push/secret") }
        try await bus.route("app://embed/article/3")
        let state = await navigator.state
        #expect(state.active == NavigationState.mainPresenter && Array(state.stacks.keys) == ["main"])
        #expect(
            state.layers().count == 1
                && state.stack().map(\.name) == ["ArticleScreen", "basket", "ArticleScreen"]
        )
        #expect(state.top()?.url == "app://article/3" && state.top()?.transition == .embed)
        let saved = try JSONEncoder().encode(state)
        try await navigator.back(2)
        #expect(await presenter.removals == [state.stack()[2].id, state.stack()[1].id])
        try await navigator.restore(JSONDecoder().decode(Saved.self, from: saved).state)
        let entry = try JSONDecoder().decode(SavedEntry.self, from: JSONEncoder().encode(state.stack()[0]))
            .entry
        #expect(entry.name == "ArticleScreen" && !state.description.isEmpty)
        #expect(await navigator.state == state && state.hashValue == Set([state]).first?.hashValue)
        #expect(try NavigationState(urls: state.urls) == state && "\(state)".contains(state.stack()[1].link))
        let second = try #require(await navigator.state.stack().dropFirst().first)
        var hasher = Hasher()
        second.hash(into: &hasher)
        state.hash(into: &hasher)
        #expect(second == state.stack()[1] && second.id != state.stack()[1].id)
        try await navigator.back(to: second.id)
        try await navigator.remove(second.id)
        let shown = await navigator.destinations()
        #expect(shown.map(\.id) == shown.map(\.entry.id) && shown.count == 1)
        let side: NavigationState.PresenterID = "other"
        let other = WordPresenter()
        await navigator.setPresenter(other, named: side)
        try await navigator.activate(side)
        try await bus.route("app://article/9", headers: [NavigationRequest.presenterHeader: side])
        #expect(await other.words == ["article 9"] && NavigationState().stacks.isEmpty)
    }

    @Test func `inspectors, observers and a global handler receive navigation requests`() async throws {
        struct Idle: NavigationInspector {}
        let navigator = try Navigator(bus: bus, presenter: WordPresenter(), schemes: ["app"])
        let inspector = Guard()
        let log = Log()
        navigator.addInspector(inspector)
        navigator.addInspector(Idle())
        try navigator.register("app://article/:id", ArticleScreen.self)
        let end = navigator.observe("ArticleScreen") { event in
            let source = event.source.map { "\($0.value)" } ?? "nothing"
            log.add(
                "\(event.kind) \(event.destination.value) \(event.transition) \(source) \(event.presenter)"
            )
        }
        try navigator.setGlobalHandler(uncaughtOf: ["app"]) { request in
            guard request.destinationName == nil, !request.segments.isEmpty else {
                let agrees = try await Idle().shouldTransition(request, from: nil)
                let supplied = try await Idle().willTransition(request, from: nil) { "made" }
                await Idle().didTransition(request, result: .failure(.refused("by nothing")))
                let screen: ArticleScreen = try request.decode()
                let basket = try await BasketScreen(add: "tea").reused(for: request)
                return agrees && supplied == nil && screen.id > 0 && basket.add == nil ? .proceed : .handled()
            }
            let parts = [request.url, request.scheme, request.host ?? "-", request.path, request.presenter]
            return .handled(parts + [request.fragment ?? "-", "\(request.id == request.message.id)"])
        }
        try await bus.route("app://root/article/1")
        try await bus.route("app://present/article/2")
        await #expect(throws: RoutingError.self) { try await bus.route("app://article/3?stop=1") }
        let parts: [String] = try await bus.route("app://push/un/known#x")
        #expect(parts == ["app://push/un/known#x", "app", "-", "un/known", "main", "x", "true"])
        end()
        let kinds: [NavigationEvent.Kind] = [.willPerform, .didPerform, .willRemove, .didRemove]
        #expect(kinds.map(\.rawValue).contains("didRemove") && NavigationEvent.Kind(rawValue: "x") == nil)
        #expect(log.entries.last == "didPerform sheet of article 2 present article 1 main")
        #expect(inspector.seen.entries == ["root on main: 1", "present on main: 2", "refused"])
    }

    @Test func `an editor sends replies to its caller until it is closed`() async throws {
        let navigator = try Navigator(bus: bus, presenter: WordPresenter())
        let editors = AsyncStream.makeStream(of: NoteScreen.self)
        try navigator.register("app://article/:id", ArticleScreen.self)
        try navigator.register("app://note/:name") { request in
            let name: String = try request.parameters.require("name")
            #expect(name == "todo" && request.transition == .push)
            let editor = NoteScreen(request)
            editors.continuation.yield(editor)
            return editor
        }
        try await bus.route("app://root/article/1")
        let log = Log()
        let caller = Task { [bus] in
            try await bus.route("app://push/note/todo", as: String.self) { (text: String) in
                log.add(text)
                return text.count > 3
            }
        }
        var iterator = editors.stream.makeAsyncIterator()
        let editor = try #require(await iterator.next())
        while await navigator.state.stack().count < 2 { await Task.yield() }
        #expect(try await editor.save("buy tea"))
        try await editor.finish("bought")
        #expect(try await caller.value == "bought")
        #expect(log.entries == ["draft of buy tea", "buy tea"])
    }
}
