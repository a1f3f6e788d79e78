#if Macros

import Testing
import Waybill

/// Methods of every form as routes.
@Suite
struct MethodKindTests {
    private typealias To = Outer.Methods.urls

    private func opened() async throws -> MessageBus {
        let bus = MessageBus()
        try await bus.install { Outer.Methods() }
        return bus
    }

    @Test
    func `a URL's parameters have the internal names of a method, and typed URLs its labels`() async throws {
        let bus = try await self.opened()
        #expect(try await bus.route("app://methods/labels?from=1&b=2&c=3") == "1 2 3")
        #expect(try await bus.route(To.labels(1, of: 2, c: 3)) == "1 2 3")
        #expect(try await bus.route("app://methods/default?in=x") == "x")
        #expect(try await bus.route(To.default(in: "y")) == "y")
    }

    @Test
    func `overloaded methods are distinguished by their paths`() async throws {
        let bus = try await self.opened()
        #expect(try await bus.route("app://methods/find/7") == "number 7")
        #expect(try await bus.route("app://methods/search?x=7") == "text 7")
        #expect(try await bus.route(To.find(x: 7)) == "number 7")
        #expect(try await bus.route(To.find(x: "7")) == "text 7")
    }

    @Test
    func `the error that a method throws is the cause of the failure`() async throws {
        let bus = try await self.opened()
        for path in ["any", "typed", "later"] {
            let error = await #expect(throws: RoutingError.self) {
                try await bus.route("app://methods/\(path)")
            }
            #expect(error?.code == .handlerFailed)
            #expect(error?.cause is Outer.Broken)
        }
        #expect(try await bus.route(To.never()) == 1)
    }

    @Test
    func `methods of each isolation can be called`() async throws {
        let bus = try await self.opened()
        #expect(try await bus.route(To.free(a: 2)) == 4)
        #expect(try await bus.route(To.freeAndLate(a: 2)) == 8)
        #expect(try await bus.route(To.concurrent(a: 2)) == 16)
        #expect(try await bus.route(To.main(a: 2)) == 32)
        try await bus.route(To.nothing())
    }

    @Test
    func `a module's method can have a message parameter and a path of its own`() async throws {
        let bus = try await self.opened()
        #expect(try await bus.route("app://elsewhere/x?q=1") == "1")
        #expect(try await bus.route(To.whole()) == "-")
        #expect(try await bus.route("app://methods") == "root")
        #expect(try await bus.route("app://methods/glob/a/b") == "a/b")
    }

    @Test
    func `a route under a condition exists if the condition holds`() async throws {
        let bus = try await self.opened()
        #expect(try await bus.route(To.here()) == "here")
        #expect(!bus.canRoute("app://methods/gone"))
        #expect(try await bus.route(To.young()) == "young")
    }

    @Test
    func `a default value can have any name and be a closure`() async throws {
        let bus = try await self.opened()
        #expect(try await bus.route(To.defaults()) == "a message in a module 7")
        #expect(try await bus.route("app://methods/defaults?text=x&place=y") == "x in y 7")
        let nine: (@Sendable () -> Int)? = { 9 }
        #expect(try await bus.route(To.defaults(text: "x", number: nine)) == "x in a module 9")
        #expect(try await bus.route(To.defaults(text: "x", number: nil)) == "x in a module nil")
    }

    @Test
    func `a value whose type is an alias arrives unchanged`() async throws {
        let bus = try await self.opened()
        #expect(try await bus.route(To.aliases(value: 5)) == "Int 5, Int, limit 10, [1]")
        let url = To.aliases(value: "x", other: 8, limit: nil, ids: [])
        #expect(try await bus.route(url) == "String x, Int, limit nil, []")
    }

    @Test
    func `a module can have no routes`() async throws {
        let bus = MessageBus()
        #expect(try await bus.install { Deserted() }.registrations.isEmpty)
    }

    @Test
    func `a module's routes have descriptions`() throws {
        let route = try #require(Outer.Methods.routes.first { $0.description.action == "labels" }).description
        #expect(route.pattern == "app://methods/labels")
        #expect(route.module == "Methods")
        #expect(
            route.parameters == [.init("from", "Int"), .init("b", "Int"), .init("c", "Int", default: "0")]
        )
        #expect(route.reply == "String")
        #expect(route.documentation == "Reads three.\n\nAnd \"writes\" them.")
        #expect(Outer.Methods.url == "app://methods")
    }
}

@Module("app://deserted")
private actor Deserted {
    #if NEVER
    @Route func gone() {}
    #endif
}

private let message = "a message"
private let module = "a module"

enum Outer {
    struct Broken: Error {}
    typealias Limit = Int?
    typealias IDs = [Int]
    typealias Payload = any Sendable

    @Module("app://methods/")
    actor Methods {
        /// Reads three.
        ///
        /// And "writes" them.
        @Route
        func labels(_ from: Int, of b: borrowing Int, c: sending Int = 0) -> String {
            "\(from) \(copy b) \(c)"
        }

        @Route func `default`(in: String) -> String { `in` }

        @Route("find/:x") func find(x: Int) -> String { "number \(x)" }
        @Route("search") func find(x: String) -> String { "text \(x)" }

        @Route func any() throws -> Int { throw Broken() }
        @Route func typed() throws(Broken) -> Int { throw Broken() }
        @Route func later() async throws(Broken) { throw Broken() }
        @Route func never() throws(Never) -> Int { 1 }

        @Route nonisolated func free(a: Int) -> Int { a * 2 }
        @Route nonisolated func freeAndLate(a: Int) async -> Int { a * 4 }
        @Route @concurrent nonisolated func concurrent(a: Int) async -> Int { a * 8 }
        @Route @MainActor func main(a: Int) -> Int { a * 16 }
        @Route func nothing() {}

        @Route("app://elsewhere/x") func whole(_ message: borrowing Message) -> String {
            message.parameters["q"] ?? "-"
        }
        @Route("/") func root() -> String { "root" }
        @Route("/glob/**") func glob(_ message: Message) -> String { message.parameters["**"] ?? "" }

        #if os(Linux) || os(macOS)
        @Route func here() -> String { "here" }
        #else
        @Route func here() -> Int { 1 }
        #endif
        #if NEVER
        @Route func gone() {}
        #endif

        @Route func defaults(
            text: String = message,
            place: String? = module,
            number: (@Sendable () -> Int)? = { 7 }
        ) -> String { "\(text) in \(place ?? "nil") \(number.map { "\($0())" } ?? "nil")" }

        @Route func aliases(
            value: Payload,
            other: (any Sendable) = 7,
            limit: Limit = 10,
            ids: IDs = [1]
        ) -> String {
            "\(type(of: value)) \(value), \(type(of: other)), limit \(limit.map { "\($0)" } ?? "nil"), \(ids)"
        }

        @available(macOS 26, *)
        @Route func young() -> String { "young" }
    }
}

#endif
