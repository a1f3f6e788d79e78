import Testing
import Waybill
import WaybillCompatibility
import WaybillRouting
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct NativeConnectorTests {
    let bus = MessageBus(configuration: .quiet)

    init() throws {
        var actions = Actions()
        try actions.declare("detail", of: "User", values: .needed) { message in
            "user \(try message.parameters.require("uid", as: Int.self))"
        }
        try actions.declare("log", of: "User", values: .none) { _ in }
        try actions.declare("log", of: "User", values: .needed) { message in message.parameters["text"] ?? ""
        }
        try actions.declare("list", of: "User", values: .optional) { message in
            message.parameters["page"] ?? "1"
        }
        try actions.declare("all", of: "OrderList", values: .none) { _ in "orders" }
        try self.bus.connect("app", to: NativeConnector(actions))
    }

    @Test(arguments: [
        ("app://user/detail?uid=1", "user 1"), ("app://User/detail?uid=1", "user 1"),
        ("user/detail?uid=1", "user 1"), ("app://user/a/b/detail?uid=1", "user 1"),
        ("app://user/log?text=hi", "hi"), ("app://user/list", "1"), ("app://user/list?page=2", "2"),
        ("app://orderList/all", "orders"), ("app://%75ser/list/", "1"),
    ])
    func `the native connector calls the action that the URL names`(url: String, answer: String) async throws
    {
        #expect(try await self.bus.route(url, as: String.self) == answer)
        #expect(self.bus.canRoute(url))
    }

    @Test func `an action that returns nothing replies with an empty tuple`() async throws {
        let _: Void = try await self.bus.route("app://user/log")
    }

    @Test func `an action that needs values can have them passed by the caller`() async throws {
        let answer: String = try await self.bus.route("app://user/detail", parameters: ["uid": 7])
        #expect(answer == "user 7")
        #expect(!self.bus.canRoute("app://user/detail"))
    }

    @Test(arguments: [
        ("app://user/detail", ["`User`", "`detail`", "without values"]),
        ("app://user/detail?", ["`User`", "`detail`", "without values"]),
        ("app://orderList/all?page=1", ["`OrderList`", "`all`", "with values"]),
        ("app://user/Detail?uid=1", ["`User`", "`Detail`", "did you mean `detail`?"]),
        ("app://user/none", ["`User`", "`none`", "there are `detail`, `list`, `log`"]),
        ("app://orderlist/all", ["`orderlist`", "`all`", "did you mean `OrderList`?"]),
        ("app://nobody/x", ["`nobody`", "`x`", "`OrderList`, `User`"]),
        ("app://user/", ["`user`", "no action"]), ("app:///detail?x=1", ["`detail`", "no action"]),
        ("app://", ["neither a target nor an action"]), ("app:?uid=1", ["neither a target nor an action"]),
        ("app://ß/\u{1}%00", ["`ß`"]),
    ])
    func `the error of a missing action names the target and the action`(
        url: String,
        words: [String]
    ) async throws {
        let error = try #require(await failure { try await self.bus.route(url) })
        #expect(error.code == .noHandler && error.url == url)
        for word in words { #expect(error.message.contains(word), "\(error)") }
        #expect(!self.bus.canRoute(url))
    }

    @Test func `declaring an action twice is a conflict`() throws {
        var actions = Actions()
        try actions.declare("log", of: "User", values: .none) { _ in }
        try actions.declare("log", of: "User", values: .optional) { _ in }
        let error = #expect(throws: RoutingError.self) {
            try actions.declare("log", of: "user", values: .none) { _ in }
        }
        #expect(error?.code == .conflict && error?.message.contains("`log`") == true)
        #expect(actions.all.count == 2)
    }

    @Test func `an action with a missing parameter fails with missingParameter`() async throws {
        let error = await failure { try await self.bus.route("app://user/detail?id=1") }
        #expect(error?.code == .missingParameter && error?.message.contains("`uid`") == true)
    }

    @Test func `a route under a connected scheme takes precedence`() async throws {
        try self.bus.register("app://user/list") { _ in "route" }
        #expect(try await self.bus.route("app://user/list", as: String.self) == "route")
        #expect(try await self.bus.route("app://user/x/list", as: String.self) == "1")
    }
}
