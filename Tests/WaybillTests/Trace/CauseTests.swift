import Testing
import WaybillEventLoop
import WaybillTestSupport

@testable import Waybill

/// The message that caused another message.
@Suite(.timeLimit(.minutes(1)))
struct CauseTests {
    private let bus = MessageBus(configuration: .quiet)
    private let log = Journal<MessageTrace.Event>()

    private func observe() -> Registration { self.bus.observe { [log] in log.add($0) } }

    private func begun(_ url: String) -> MessageTrace.Event? {
        self.log.entries.first { event in
            if case .message = event.kind { event.message.parameters.url == url } else { false }
        }
    }

    /// Waits for a message, and returns the URL of the message that caused it, or nil.
    private func cause(of url: String) async -> String? {
        guard await eventually({ self.begun(url) != nil }), let cause = self.begun(url)?.cause else {
            return nil
        }
        return self.log.entries.first { $0.message.id == cause }?.message.parameters.url ?? "unknown \(cause)"
    }

    @Test
    func `a handler's message is the cause of the messages that it routes, sends and publishes`() async throws
    {
        let bus = self.bus
        try bus.register("app://leaf/:from") { _ in 1 }
        try bus.subscribe("app://topic/:from") { _ in }
        try bus.subscribe("app://topic/:from") { _ in await Task.yield() }
        try bus.register("app://middle") { _ -> Int in
            bus.send("app://leaf/send")
            _ = try await bus.publish("app://topic/middle")
            for try await _ in bus.replies(to: "app://leaf/replies") {}
            await Task.yield()
            async let child: Int = bus.route("app://leaf/child")
            let one: Int = try await bus.route("app://leaf/route")
            return try await one + child
        }
        try bus.register("app://outer") { _ -> Int in
            try await bus.route("app://middle", timeout: .seconds(5))
        }
        let registration = self.observe()
        defer { registration.cancel() }
        _ = try await bus.route("app://outer", as: Int.self)
        #expect(await self.cause(of: "app://outer") == nil)
        #expect(await self.cause(of: "app://middle") == "app://outer")
        for url in [
            "app://leaf/route", "app://leaf/child", "app://leaf/send", "app://leaf/replies",
            "app://topic/middle",
        ] {
            #expect(await self.cause(of: url) == "app://middle", "\(url)")
        }
        #expect(self.begun("app://leaf/send")?.message.deliveryKind == .send)
        #expect(self.begun("app://topic/middle")?.message.deliveryKind == .publication)
        #expect(self.begun("app://leaf/route")?.message.deliveryKind == .request)
    }

    @Test(arguments: [false, true])
    func `a handler that is called in place is the cause of its messages`(isOnLoop: Bool) async throws {
        let bus = self.bus
        try bus.register("app://leaf/:from") { _ in }
        try bus.register("app://place/:from") { message in
            bus.send("app://leaf/\(message.parameters["from"] ?? "")")
        }
        let registration = self.observe()
        defer { registration.cancel() }
        if isOnLoop {
            try await Probe(eventLoop: bus.eventLoop).run { try await bus.route("app://place/a") }
        } else {
            try await bus.route("app://place/a")
        }
        bus.send("app://place/b")
        bus.send("app://leaf/c")
        #expect(await self.cause(of: "app://leaf/a") == "app://place/a")
        #expect(await self.cause(of: "app://leaf/b") == "app://place/b")
        #expect(await self.cause(of: "app://leaf/c") == nil)
    }

    @Test
    func `messages of a progress reply's answer are caused by its message, and the answer is traced`()
        async throws
    {
        let bus = self.bus
        try bus.register("app://leaf") { _ in }
        try bus.register("app://asks") { message -> Bool in
            try await message.reply(with: "sure?", expecting: Bool.self)
        }
        let registration = self.observe()
        defer { registration.cancel() }
        let isSure: Bool = try await bus.route("app://asks") { (_: String) in
            try await bus.route("app://leaf")
            return true
        }
        #expect(isSure)
        #expect(await self.cause(of: "app://leaf") == "app://asks")
        let kinds = self.log.entries.filter { $0.message.parameters.url == "app://asks" }.map { event in
            switch event.kind {
            case .message: "message"
            case .progress(let value): "progress \(value)"
            case .answer(let value): "answer \(value)"
            case .reply(let value): "reply \(value)"
            case .failure: "failure"
            }
        }
        #expect(kinds == ["message", "progress sure?", "answer true", "reply true"])
    }

    @Test
    func `the message that a return leg answers is its cause`() async throws {
        let bus = self.bus
        try bus.register("app://pay") { _ in 7 }
        try bus.register("app://leaf") { _ in }
        try bus.register("app://receipt") { _ in bus.send("app://leaf") }
        let registration = self.observe()
        defer { registration.cancel() }
        _ = try await bus.route("app://pay#receipt", as: Int.self)
        #expect(await self.cause(of: "app://receipt") == "app://pay#receipt")
        #expect(self.begun("app://receipt")?.message.deliveryKind == .returnLeg)
        #expect(await self.cause(of: "app://leaf") == "app://receipt")
    }

    @Test
    func `without an observer no cause is recorded`() async throws {
        let bus = self.bus
        let causes = Journal<CorrelationID?>()
        try bus.register("app://leaf") { causes.add($0.cause) }
        try bus.register("app://outer") { _ in
            bus.send("app://leaf")
            try await bus.route("app://leaf")
        }
        try await bus.route("app://outer")
        #expect(await eventually { causes.count == 2 })
        #expect(causes.entries.allSatisfy { $0 == nil })
    }
}
