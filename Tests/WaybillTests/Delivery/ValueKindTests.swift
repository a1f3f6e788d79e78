internal import Testing
internal import Waybill
internal import WaybillEventLoop
internal import WaybillTestSupport

/// A value of any kind is returned unchanged on every path.
struct ValueKindTests {
    private let bus = MessageBus(configuration: .quiet)

    protocol Animal: Sendable { var name: String { get } }
    struct Cat: Animal, Equatable { var name = "Tom" }
    struct Box<Content: Sendable & Equatable>: Sendable, Equatable { var content: Content }

    /// The paths that a value can take from a handler to its caller.
    enum Way: CaseIterable {
        case inPlace, suspending, fromOutside, middleware, callback, replies, reply, connector
        case progress, answer, payload
    }

    /// Sends a value by one path, and returns the received value as the requested type.
    // The attribute prevents an optimization for each pair of types, which would take minutes.
    @_optimize(none)
    private func send<Sent: Sendable, Asked: Sendable>(
        _ value: Sent,
        as type: Asked.Type,
        _ way: Way
    ) async throws -> Asked {
        let bus = self.bus
        let probe = Probe(eventLoop: bus.eventLoop)
        switch way {
        case .inPlace:
            try bus.register("app://value") { _ in value }
            return try await probe.run { try await bus.route("app://value", as: type) }
        case .suspending:
            try bus.register("app://value") { _ async in value }
            return try await probe.run { try await bus.route("app://value", as: type) }
        case .fromOutside:
            try bus.register("app://value") { _ in value }
            return try await bus.route("app://value", as: type)
        case .middleware:
            try bus.register("app://value") { _ in value }
            bus.use(FilterMiddleware { _ in true })
            return try await probe.run { try await bus.route("app://value", as: type) }
        case .callback:
            try bus.register("app://value") { message in
                await message.reply(with: 1)
                return value
            }
            return try await bus.route("app://value", as: type) { (_: Int) in }
        case .replies:
            try bus.register("app://value") { _ async in value }
            for try await reply in bus.replies(to: "app://value") { return try reply.value(as: type) }
            throw RoutingError(.noHandler, message: "there was no reply")
        case .reply:
            try bus.register("app://value") { _ in value }
            return try await bus.route("app://value", headers: ["a": "b"]).value(as: type)
        case .connector:
            try bus.connect("far", to: StubConnector { _ in value })
            return try await bus.route("far://value", as: type)
        case .progress:
            try bus.register("app://value") { message in
                try await message.reply(with: value, expecting: Void.self)
            }
            let heard = Journal<Asked>()
            try await bus.route("app://value", as: Void.self) { (update: Asked) in heard.add(update) }
            return try #require(heard.entries.first)
        case .answer:
            let heard = Journal<Asked>()
            try bus.register("app://value") { message in
                heard.add(try await message.reply(with: 1, expecting: type))
            }
            try await bus.route("app://value", as: Void.self) { (_: Int) in value }
            return try #require(heard.entries.first)
        case .payload:
            let heard = Journal<Asked>()
            try bus.register("app://value") { _ in value }
            try bus.register("app://taken") { message in heard.add(try message.payload(as: type)) }
            let reply = try await bus.route("app://value#app://taken")
            if case .failed(let error) = await reply.returnLeg?.outcome { throw error }
            return try #require(heard.entries.first)
        }
    }

    @Test(arguments: Way.allCases) func `an existential holds the value that was sent`(way: Way) async throws
    {
        let any = try await self.send(7, as: (any Sendable).self, way)
        #expect(any as? Int == 7)
    }

    @Test(arguments: Way.allCases) func `Void is returned as Void, also as an existential`(
        way: Way
    ) async throws {
        let any = try await self.send((), as: (any Sendable).self, way)
        #expect(any is Void)
    }

    @Test(arguments: Way.allCases) func `a caller that asks for Void discards the value`(
        way: Way
    ) async throws {
        try await self.send(7, as: Void.self, way)
    }

    @Test(arguments: Way.allCases) func `a value can be received as a protocol to which it conforms`(
        way: Way
    ) async throws {
        #expect(try await self.send(Cat(), as: (any Animal).self, way).name == "Tom")
    }

    @Test(arguments: Way.allCases) func `a value that is sent as a protocol can be received as its own type`(
        way: Way
    ) async throws {
        let animal: any Animal = Cat()
        #expect(try await self.send(animal, as: Cat.self, way) == Cat())
    }

    @Test(arguments: Way.allCases) func `a value of Void does not conform to a protocol`(
        way: Way
    ) async throws {
        let error = await failure { _ = try await self.send((), as: (any Animal).self, way) }
        #expect(error?.rootCause.code == .typeMismatch)
    }

    @Test(arguments: Way.allCases) func `a value of Void is not an Optional of another type`(
        way: Way
    ) async throws {
        let error = await failure { _ = try await self.send((), as: Int?.self, way) }
        #expect(error?.rootCause.code == .typeMismatch)
    }

    @Test(arguments: Way.allCases) func `an Optional keeps its depth`(way: Way) async throws {
        #expect(try await self.send(Int?.none, as: Int?.self, way) == .none)
    }

    @Test(arguments: Way.allCases) func `an Optional of an Optional keeps its depth`(way: Way) async throws {
        #expect(try await self.send(Int??.some(.some(7)), as: Int??.self, way) == .some(.some(7)))
    }

    @Test(arguments: Way.allCases) func `a nil inside of an Optional is kept`(way: Way) async throws {
        #expect(try await self.send(Int??.some(nil), as: Int??.self, way) == .some(.none))
    }

    @Test(arguments: Way.allCases) func `a nil outside of an Optional is kept`(way: Way) async throws {
        #expect(try await self.send(Int??.none, as: Int??.self, way) == .none)
    }

    @Test(arguments: Way.allCases) func `a value is wrapped and unwrapped as its receiver needs`(
        way: Way
    ) async throws {
        #expect(try await self.send(Int?.some(7), as: Int.self, way) == 7)
    }

    @Test(arguments: Way.allCases) func `nil cannot be received as a value`(way: Way) async throws {
        let error = await failure { _ = try await self.send(Int?.none, as: Int.self, way) }
        #expect(error?.rootCause.code == .typeMismatch)
    }

    @Test(arguments: Way.allCases) func `a closure that was sent can be called by its receiver`(
        way: Way
    ) async throws {
        let addOne: @Sendable (Int) -> Int = { $0 + 1 }
        #expect(try await self.send(addOne, as: (@Sendable (Int) -> Int).self, way)(1) == 2)
    }

    @Test(arguments: Way.allCases) func `a tuple arrives with its elements`(way: Way) async throws {
        #expect(try await self.send((1, "x"), as: (Int, String).self, way) == (1, "x"))
    }

    @Test(arguments: Way.allCases) func `a generic value keeps its type`(way: Way) async throws {
        #expect(try await self.send(Box(content: [1]), as: Box<[Int]>.self, way) == Box(content: [1]))
    }

    @Test(arguments: Way.allCases) func `an array of existentials arrives as an array of existentials`(
        way: Way
    ) async throws {
        let values: [any Sendable] = [1, "x"]
        #expect(try await self.send(values, as: [any Sendable].self, way).count == 2)
    }

    @Test(arguments: Way.allCases) func `a value of another type than the requested one is a typeMismatch`(
        way: Way
    ) async throws {
        let error = await failure { _ = try await self.send(UInt8(3), as: Int.self, way) }
        #expect(error?.rootCause.code == .typeMismatch)
    }

    @Test(arguments: [true, false])
    func `the requested type decides how the value is converted`(isPlain: Bool) async throws {
        try self.bus.register("app://value") { _ in 7 }
        let headers = isPlain ? [:] : ["a": "b"]
        let any: any Sendable = try await self.bus.route("app://value")
        let anyWithMore: any Sendable = try await self.bus.route("app://value", headers: headers)
        let reply: Reply = try await self.bus.route("app://value")
        let replyWithMore: Reply = try await self.bus.route("app://value", headers: headers)
        let unsaid = try await self.bus.route("app://value")
        #expect(any as? Int == 7 && anyWithMore as? Int == 7)
        #expect(try reply.value(as: Int.self) == 7 && replyWithMore.value(as: Int.self) == 7)
        #expect(try unsaid.value(as: Int.self) == 7 && unsaid.correlationID != reply.correlationID)
    }
}
