import Waybill
import WaybillNavigation
import WaybillTestSupport

/// Records the changes that it is asked to show. A test can make it fail or wait.
actor NotingPresenter: Presenter {
    nonisolated let journal = Journal<String>()
    private var failure: (any Error)?
    private var gate: Gate?
    private var body: (@Sendable () async throws -> Void)?

    func fail(with error: (any Error)?) { self.failure = error }

    func wait(at gate: Gate?) { self.gate = gate }

    /// Runs code of the test within the next step.
    func runOnce(_ body: @escaping @Sendable () async throws -> Void) { self.body = body }

    func show(_ change: NavigationChange) async throws { try await self.note("show", change) }

    func update(_ change: NavigationChange) async throws { try await self.note("update", change) }

    func remove(_ change: NavigationChange) async throws { try await self.note("remove", change) }

    private func note(_ verb: String, _ change: NavigationChange) async throws {
        await self.gate?.wait()
        if let body = self.body.take() { try await body() }
        if let failure { throw failure }
        let stack = change.stack.map { "\($0.value)" }.joined(separator: " ")
        self.journal.add("\(verb) by \(change.transition): \(stack)")
    }
}

/// Records for each change its transition, the path of its request, and whether the change is animated.
struct AnimatingPresenter: Presenter {
    let journal = Journal<String>()

    func show(_ change: NavigationChange) async throws { try self.note(change) }

    func update(_ change: NavigationChange) async throws { try self.note(change) }

    func remove(_ change: NavigationChange) async throws { try self.note(change) }

    private func note(_ change: NavigationChange) throws {
        let request = change.request
        let isAnimated: Bool? = try request?.parameters.value("animated")
        let words = request.map { " \($0.path)" } ?? ""
        self.journal.add("\(change.transition)\(words) \(isAnimated.map { "\($0)" } ?? "-")")
    }
}

/// A destination whose properties are parameters.
struct Page: Decodable, Sendable, Equatable, CustomStringConvertible {
    let id: Int
    var tab: String?

    var description: String { "page\(self.id)\(self.tab.map { "." + $0 } ?? "")" }
}

struct Home: Decodable, Sendable, CustomStringConvertible {
    var description: String { "home" }
}

/// A destination that is reused, and therefore exists only once.
struct Cart: Decodable, ReusableDestination, CustomStringConvertible {
    var add: String?

    var description: String { "cart\(self.add.map { "+" + $0 } ?? "")" }
}

/// A reusable destination that is an actor, and that each request changes.
final actor Mailbox: ReusableDestination, CustomStringConvertible {
    private(set) var folders: [String] = []

    nonisolated var description: String { "mailbox" }

    func open(_ folder: String) { self.folders.append(folder) }

    func reused(for request: NavigationRequest) async throws -> Self {
        self.open(try request.parameters.require("folder"))
        return self
    }
}

struct Broken: Error {}

/// A middleware between a caller and the navigator.
struct Passing: Middleware {
    nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable { try await next(message) }
}

/// A bus with a navigator, and destinations that most tests need.
struct Screens {
    let bus: MessageBus
    let presenter = NotingPresenter()
    let navigator: Navigator

    var journal: Journal<String> { self.presenter.journal }

    init() throws {
        self.bus = MessageBus(configuration: .quiet(by: .navigation))
        self.navigator = try Navigator(bus: self.bus, presenter: self.presenter)
        try self.navigator.register("app://home", Home.self)
        try self.navigator.register("app://page/:id", Page.self)
        try self.navigator.register("app://cart", Cart.self)
    }

    /// Returns the links of the shown destinations.
    func links() async -> [String] { await self.navigator.state.stack().map(\.link) }

    func open(_ urls: String...) async throws {
        for url in urls { try await self.bus.route(url) }
    }
}
