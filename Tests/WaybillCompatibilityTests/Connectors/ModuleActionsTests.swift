import Testing
import Waybill
import WaybillCompatibility
import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct ModuleActionsTests {
    let bus = MessageBus(configuration: .quiet)

    init() throws { try self.bus.connect("native", to: NativeConnector(modulesOf: self.bus)) }

    @Test func `the native connector finds the methods of modules by their names`() async throws {
        let installation = try await self.bus.install { GuestModule() }
        #expect(try await self.bus.route("native://guest/detail?uid=1", as: String.self) == "guest 1")
        #expect(try await self.bus.route("native://Guest/a/count", as: Int.self) == 1)
        #expect(try await self.bus.route("native://guest/list", as: Int.self) == 1)
        #expect(try await self.bus.route("native://guest/list?page=3", as: Int.self) == 3)
        let greeting: String = try await self.bus.route("native://guest/later", parameters: ["uid": 7])
        #expect(greeting == "later 7")
        #expect(self.bus.canRoute("native://guest/count") && !self.bus.canRoute("native://guest/count?x=1"))
        let missing = await failure { try await self.bus.route("native://guest/detial?uid=1") }
        #expect(missing?.code == .noHandler && missing?.message.contains("did you mean `detail`?") == true)
        let wrong = await failure { try await self.bus.route("native://guest/detail?uid=x") }
        #expect(wrong?.code == .invalidParameter)
        installation.cancel()
        #expect(!self.bus.canRoute("native://guest/count"))
        let gone = await failure { try await self.bus.route("native://guest/count") }
        #expect(gone?.code == .noHandler && gone?.message.contains("`guest`") == true)
        #expect(self.bus.statistics.inFlight == 0)
    }

    @Test func `a configured route is not an action of the module that it leads to`() async throws {
        try await self.bus.install { GuestModule() }
        try self.bus.load([
            "app://first": "app://guests/1", "app://number": "app://guests/count",
        ])
        #expect(try await self.bus.route("app://first", as: String.self) == "guest 1")
        #expect(!self.bus.canRoute("native://guest/detail"))
        #expect(!self.bus.canRoute("native://guest"))
        #expect(self.bus.canRoute("native://guest/count"))
    }

    @Test func `an action is called by its name even if a configured route hides its route`() async throws {
        let bus = MessageBus(configuration: .quiet(by: .yfRouter))
        try bus.connect("native", to: NativeConnector(modulesOf: bus))
        try await bus.install { GuestModule() }
        try bus.load(["app://guests/:uid": "Guest.detail"])
        #expect(try await bus.route("native://guest/detail?uid=1", as: String.self) == "guest 1")
    }

    @Test func `the native connector does not retain a module that was removed`() async throws {
        weak var module: GuestModule?
        do {
            let installation = try await self.bus.install { GuestModule() }
            module = installation.module
            _ = try await self.bus.route("native://guest/count")
            installation.cancel()
        }
        #expect(await eventually { module == nil })
    }

    @Test func `a caller of a module's method resumes at its deadline`() async throws {
        try await self.bus.install { GuestModule() }
        let error = await failure {
            try await self.bus.route("native://guest/hang", deadline: .now + .milliseconds(20))
        }
        #expect(error?.code == .deadlineExceeded)
    }

    @Test func `the native connector does not retain its bus`() async throws {
        var bus: MessageBus? = MessageBus(configuration: .quiet)
        weak var module: GuestModule?
        if let bus {
            try bus.connect("native", to: NativeConnector(modulesOf: bus))
            module = try await bus.install { GuestModule() }.module
            _ = try await bus.route("native://guest/count")
        }
        bus = nil
        #expect(await eventually { module == nil })
    }
}

private actor GuestModule: Module {
    static let url = "app://guests"
    nonisolated let context = ModuleContext.current
    private var counted = 0

    func count() -> Int {
        self.eventLoop.preconditionInEventLoop()
        self.counted += 1
        return self.counted
    }

    static var routes: [ModuleRoute<GuestModule>] {
        [
            ModuleRoute("app://guests/:uid", action: "detail", parameters: [.init("uid", "Int")]) {
                _,
                message in
                "guest \(try message.parameters.require("uid", as: Int.self))"
            },
            ModuleRoute("app://guests/count", action: "count") { guest, _ in guest.count() },
            ModuleRoute(
                "app://guests/list",
                action: "list",
                parameters: [.init("page", "Int", default: "1")]
            ) { _, message in try message.parameters.value("page", as: Int.self) ?? 1 },
            ModuleRoute("app://guests/later", action: "later", parameters: [.init("uid", "Int")]) {
                _,
                message in
                await Task.yield()
                return "later \(message.parameters["uid"] ?? "")"
            },
            ModuleRoute("app://guests/hang", action: "hang") { _, _ in try await hang() },
        ]
    }
}
