import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct FilterMiddlewareTests {
    let bus = MessageBus(configuration: .quiet)
    let failures = Journal<String>()

    @Test func `the filter middleware passes or refuses a message, with or without a reason`() async throws {
        try self.bus.register("app://a") { _ in 1 }
        self.bus.use(
            FilterMiddleware { message in
                if message.headers["guest"] != nil { throw RoutingError.refused("guests may not") }
                return message.headers["user"] != nil
            }
        )
        #expect(try await self.bus.route("app://a", headers: ["user": "x"], as: Int.self) == 1)
        #expect(await failure { try await self.bus.route("app://a") }?.code == .refused)
        let error = await failure { try await self.bus.route("app://a", headers: ["guest": "y"]) }
        #expect(error?.code == .refused && error?.message == "guests may not" && error?.url == "app://a")
    }

    @Test func `the filter middleware receives each failure, also of a URL without a handler`() async throws {
        struct Oops: Error {}
        try self.bus.register("app://a") { _ in 1 }
        try self.bus.register("app://b") { _ in throw Oops() }
        let failures = self.failures
        self.bus.use(
            FilterMiddleware {
                $0.headers["stop"] == nil
            } onFailure: { message, error in
                failures.add("\(message.address) \(error.code)")
            }
        )
        #expect(try await self.bus.route("app://a", as: Int.self) == 1)
        for url in ["app://b", "app://c"] { _ = await failure { try await self.bus.route(url) } }
        _ = await failure { try await self.bus.route("app://a", headers: ["stop": ""]) }
        #expect(failures.entries == ["app://b handlerFailed", "app://c noRoute", "app://a refused"])
    }
}
