import Testing
import Waybill
import WaybillPerformances

protocol NoteReader: AnyObject, Sendable {
    var text: String { get async }
}

protocol NoteWriter: AnyObject, Sendable {
    func write(_ text: String) async
}

/// One destination that conforms to two protocols.
actor NoteEditor: NoteReader, NoteWriter {
    private(set) var text: String
    init(text: String = "") { self.text = text }
    func write(_ text: String) { self.text += text }
}

struct NoteSettings: Sendable { var text: String? }

struct NoteRouter: ServiceRouter {
    nonisolated(nonsending) func makeDestination(
        _ request: PerformRequest<NoteSettings>
    ) async throws -> NoteEditor? {
        NoteEditor(text: try request.require("text", request.settings.text))
    }

    nonisolated(nonsending) func prepare(_ editor: NoteEditor) async throws { await editor.write("!") }
}

/// Shows destinations as words, whatever their transitions.
struct Wall: PerformPresenter {
    let log: Log

    nonisolated(nonsending) func show(_ event: PerformEvent) async throws {
        self.log.add("show \(event.transition)")
    }

    nonisolated(nonsending) func remove(_ event: PerformEvent) async throws {
        self.log.add("remove \(event.transition)")
    }
}

/// The promises of ZIKRouter, for a program that has migrated from ZIKRouter.
struct ZIKRouterPromiseTests {
    private let bus = MessageBus()

    init() throws {
        try self.bus.provide((any NoteReader).self, by: NoteRouter()) { $0 }
        try self.bus.provide((any NoteWriter).self, by: NoteRouter()) { $0 }
    }

    @Test func `one router creates destinations of several protocols from typed settings`() async throws {
        let settings = NoteSettings(text: "a")
        let reader = try await bus.performance(of: (any NoteReader).self, settings: settings).perform()
        #expect(await reader.text == "a!")
        let writer = try await bus.performance(of: (any NoteWriter).self, settings: settings).perform()
        #expect(await (writer as? NoteEditor)?.text == "a!")
        let error = #expect(throws: RoutingError.self) {
            try bus.performance(of: (any NoteReader).self, settings: "a")
        }
        #expect(error?.code == .typeMismatch)
        let marked = try bus.performance(of: .reader, settings: settings) { $0.transition = .make }
        withExtendedLifetime(try await marked.perform()) {}
    }

    @Test func `one presenter shows and removes a destination by each transition`() async throws {
        let log = Log()
        bus.setPerformPresenter(Wall(log: log))
        bus.observePerformances { event in
            log.add("\(event.kind) \(event.destination is NoteEditor) \(event.source as? String ?? "-")")
        }
        for transition in [PerformTransition.push, .present, .popover, "slide"] {
            let settings = NoteSettings(text: "a")
            let performance = try bus.performance(of: (any NoteReader).self, settings: settings) {
                $0.transition = transition
                $0.source = "lobby"
            }
            let reader = try await performance.perform()
            try await performance.remove()
            withExtendedLifetime(reader) {}
        }
        #expect(
            log.entries.prefix(6) == [
                "willPerform true lobby", "show push", "didPerform true lobby", "willRemove true lobby",
                "remove push", "didRemove true lobby",
            ]
        )
        #expect(log.entries.count == 24)
    }

    @Test func `the router of a protocol prepares a destination that was created elsewhere`()
        async throws
    {
        let editor = NoteEditor(text: "from a storyboard")
        let performance = try bus.performance(of: (any NoteWriter).self) { configuration in
            configuration.prepare = { writer in await writer.write(" and its caller") }
        }
        try await performance.perform(on: editor)
        #expect(await editor.text == "from a storyboard and its caller!")
        try await performance.remove()
        #expect(performance.state == .removed)
    }

    @Test func `infinite recursion is thrown, and the failure handler of the bus is not called`() async throws
    {
        bus.registerPerformFailed { error in Issue.record("\(error)") }
        let bus = self.bus
        let error = await #expect(throws: RoutingError.self) { try await NestingRouter(bus: bus).perform() }
        #expect(error?.rootCause.code == .infiniteRecursion)
    }
}

/// Performs itself recursively.
struct NestingRouter: ServiceRouter {
    let bus: MessageBus

    nonisolated(nonsending) func perform() async throws(RoutingError) -> Int {
        try await self.bus.performance(by: self).perform()
    }

    nonisolated(nonsending) func makeDestination() async throws -> Int? { try await self.perform() }
}

extension Routable where Service == any NoteReader {
    static var reader: Self { Self(declared: (any NoteReader).self) }
}
