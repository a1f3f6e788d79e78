import Testing
import Waybill
import WaybillTestSupport

/// Calls without a type for the value.
///
/// Each of these uses compiles, and receives the value.
@Suite(.timeLimit(.minutes(1)))
struct UntypedCallTests {
    let bus = MessageBus(configuration: .quiet)
    private let url = "app://answer"

    init() throws { try self.bus.register("app://answer") { _ in 42 } }

    private func plain(_ body: () async throws -> any Sendable) async throws -> any Sendable {
        try await body()
    }

    private func escaping(
        _ body: @escaping @Sendable () async throws -> any Sendable
    ) async throws
        -> any Sendable
    {
        try await body()
    }

    private func generic<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await body()
    }

    private func optional(_ body: () async throws -> (any Sendable)?) async throws -> (any Sendable)? {
        try await body()
    }

    /// The values of one kind of use.
    ///
    /// A `Reply` is compared by its value.
    private func check(_ values: [any Sendable], _ location: SourceLocation = #_sourceLocation) {
        for value in values {
            let value = (value as? Reply)?.value ?? value
            #expect(value as? Int == 42, sourceLocation: location)
        }
    }

    @Test func `an untyped call in a closure or a helper returns the reply's value`() async throws {
        let (bus, url) = (self.bus, self.url)
        self.check([
            try await self.plain { try await bus.route(url) },
            try await self.plain { try await bus.route(url, timeout: .seconds(30)) },
            try await self.plain { try await bus.route(url, parameters: ["x": 1]) },
            try await self.plain { try await bus.route(url) { (_: Int) in } },
            try await self.plain { try await bus.route("app://\("answer")") },
            try await self.plain {
                let value = try await bus.route(url)
                return value
            },
            try await self.plain { url.isEmpty ? 1 : try await bus.route(url) },
            try await self.plain { if url.isEmpty { 1 } else { try await bus.route(url) } },
            try await self.escaping { try await bus.route(url) },
            try await self.generic { try await bus.route(url) },
            try await self.generic { try await bus.route(url, parameters: ["x": 1]) },
        ])
        self.check([try #require(try await self.optional { try await bus.route(url) })])
        self.check([try #require(try await self.optional { try? await bus.route(url) })])
        let bodies: [@Sendable () async throws -> any Sendable] = [
            { try await bus.route(url) }, { try await bus.route(url, timeout: .seconds(30)) },
        ]
        for body in bodies { self.check([try await body()]) }
    }

    @Test func `an untyped call in a task or a group returns the reply's value`() async throws {
        let (bus, url) = (self.bus, self.url)
        async let first = bus.route(url)
        async let second: any Sendable = bus.route(url)
        self.check([try await first, try await second])
        self.check([
            try await Task { try await bus.route(url) }.value,
            try await Task<any Sendable, any Error> { try await bus.route(url) }.value,
            try await Task.detached { try await bus.route(url) }.value,
        ])
        let values = try await withThrowingTaskGroup(of: (any Sendable).self) { group in
            group.addTask { try await bus.route(url) }
            group.addTask { try await bus.route(url, timeout: .seconds(30)) }
            return try await group.reduce(into: [any Sendable]()) { $0.append($1) }
        }
        #expect(values.count == 2)
        self.check(values)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await bus.route(url) }
            try await group.waitForAll()
        }
    }

    private func returned() async throws -> any Sendable { try await self.bus.route(self.url) }

    private func returnedOptional() async throws -> (any Sendable)? { try? await self.bus.route(self.url) }

    @Test func `an untyped call in a variable, a collection or a return returns the reply's value`()
        async throws
    {
        let (bus, url) = (self.bus, self.url)
        let typed: any Sendable = try await bus.route(url)
        let untyped = try await bus.route(url)
        let list: [any Sendable] = [try await bus.route(url), 42]
        let table: [String: any Sendable] = ["a": try await bus.route(url)]
        let pair: (any Sendable, any Sendable) = (try await bus.route(url), 42)
        let result = Result<any Sendable, any Error>.success(try await bus.route(url))
        self.check([typed, untyped, pair.0, try result.get(), try await self.returned()])
        self.check(list + table.values)
        self.check([try #require(try await self.returnedOptional())])
        try bus.register("app://again") { [unowned bus] _ in try await bus.route(url) }
        self.check([try await bus.route("app://again")])
    }

    @Test func `the value of an untyped reply can be used as Any`() async throws {
        let any: Any = try await self.bus.route(self.url).value
        #expect(any as? Int == 42)
        #expect("\(try await self.bus.route(self.url).value)" == "42")
    }
}
