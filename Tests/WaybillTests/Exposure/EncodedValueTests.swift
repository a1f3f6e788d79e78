import Testing
import WaybillJSON
import WaybillTestSupport

@testable import Waybill

/// Encoded values are decoded as the requested type, on each path that a value can take.
@Suite(.timeLimit(.minutes(1)))
struct EncodedValueTests {
    private struct User: Codable, Sendable, Equatable { var name: String }
    private enum Color: String, Codable, Sendable { case red, green }
    private enum Shade: Int, Sendable { case light = 1 }
    private enum Rate: Double, Sendable { case half = 0.5 }
    private struct Opaque: Sendable {}

    private let bus = MessageBus(configuration: .quiet)

    private func json(_ text: String) throws -> JSONText { try JSONText(validating: Array(text.utf8)) }

    /// Returns the reply of a handler to the members of a JSON object as parameters.
    private func call<Value: Sendable>(
        _ text: String,
        _ handler: @escaping @Sendable (Message) throws -> Value
    ) async throws -> Value {
        let registration = try self.bus.register("app://x", handler)
        let exposure = try self.bus.expose("app://x")
        defer {
            registration.cancel()
            exposure.cancel()
        }
        let parameters = try JSONText.parameters(of: Array(text.utf8))
        let request = ExternalRequest(url: "app://x", parameters: parameters, origin: .peer)
        return try await self.bus.route(request).value(as: Value.self)
    }

    @Test
    func `an encoded reply is decoded as the type that its caller asks for`() async throws {
        let text = try self.json("{\"name\":\"Lili\"}")
        let list = try self.json("[1,2]")
        let null = try self.json("null")
        for isLater in [false, true] {
            // The handler replies as a connector does, at once or later.
            func register(_ url: String, _ value: JSONText) throws {
                try self.bus.register(url) { _ -> JSONText in
                    if isLater { await Task.yield() }
                    return value
                }
            }
            self.bus.unregister(scheme: "app")
            try register("app://user", text)
            try register("app://list", list)
            try register("app://null", null)
            #expect(try await self.bus.route("app://user") == User(name: "Lili"))
            #expect(try await self.bus.route("app://user") == User?.some(User(name: "Lili")))
            #expect(try await self.bus.route("app://user", timeout: .seconds(60)) == ["name": "Lili"])
            #expect(try await self.bus.route("app://list") == [1, 2])
            #expect(try await self.bus.route("app://null", as: Int?.self) == nil)
            #expect(try await self.bus.route("app://null", as: User??.self) == nil)
            try await self.bus.route("app://user", as: Void.self)
            let anything: any Sendable = try await self.bus.route("app://user")
            #expect(anything is [String: any Sendable])
            let maybe: (any Sendable)? = try await self.bus.route("app://list")
            #expect(maybe is [any Sendable])
            let described: any CustomStringConvertible & Sendable = try await self.bus.route("app://list")
            #expect(described is [any Sendable])
            let reply: Reply = try await self.bus.route("app://user")
            #expect(reply.value is [String: any Sendable])
            #expect(try reply.value(as: User.self) == User(name: "Lili"))
            let error = await failure { try await self.bus.route("app://user", as: [Int].self) }
            #expect(error?.code == .typeMismatch)
            #expect(error?.message == "expected [Int], but the handler returned JSON object")
            #expect(error?.cause is DecodingError)
            let opaque = await failure { try await self.bus.route("app://user", as: Opaque.self) }
            #expect(opaque?.code == .typeMismatch && opaque?.cause == nil)
        }
    }

    @Test
    func `encoded progress replies and answers are decoded as the requested type`() async throws {
        let question = try self.json("{\"name\":\"Lili\"}")
        let answer = try self.json("true")
        try self.bus.register("app://ask") { message -> Bool in
            try await message.reply(with: question, expecting: Bool.self)
        }
        let isLili: Bool = try await self.bus.route("app://ask") { (user: User) in user.name == "Lili" }
        #expect(isLili)
        let isTrue: Bool = try await self.bus.route("app://ask") { (_: any Sendable) in answer }
        #expect(isTrue)
        for try await reply in self.bus.replies(to: "app://ask") where !reply.isLast {
            #expect(try reply.value(as: User.self).name == "Lili")
            reply.answer(with: answer)
        }
    }

    @Test
    func `an encoded payload is decoded as the requested type`() async throws {
        let payload = try self.json("{\"name\":\"Lili\"}")
        try self.bus.register("app://x") { message -> String in
            #expect(message.payload is [String: any Sendable])
            #expect(throws: RoutingError.self) { try message.payload(as: Int.self) }
            return try message.payload(as: User.self).name
        }
        try self.bus.expose("app://x")
        let request = ExternalRequest(
            url: "app://x",
            passed: nil,
            headers: ["traceparent": "00"],
            payload: payload,
            correlationID: CorrelationID(rawValue: 7),
            from: ExternalRequest.Peer(origin: .peer)
        )
        #expect(try await self.bus.route(request).value(as: String.self) == "Lili")
    }

    @Test
    func `an encoded parameter is decoded as the type that the handler needs`() async throws {
        let text = """
            {"user":{"name":"Lili"},"users":[{"name":"a"},{"name":"b"}],"numbers":[1,2],"colors":["red","green"],
             "shades":[1],"nothing":null,"age":7,"half":0.5,"yes":true,"text":"t","large":18446744073709551615}
            """
        let isRight = try await self.call(text) { message in
            #expect(try message.argument("user") == User(name: "Lili"))
            #expect(try message.argument("user") == User?.some(User(name: "Lili")))
            #expect(try message.argument("users") == [User(name: "a"), User(name: "b")])
            #expect(try message.argument("numbers") == [1, 2] && message.argument("numbers") == [1.0, 2.0])
            #expect(try message.argument("numbers") == [Int]?.some([1, 2]))
            #expect(try message.argument("colors") == [Color.red, .green])
            #expect(try message.argument("shades") == [Shade.light])
            #expect(try message.argument("age") == 7 && message.argument("age") == 7.0)
            #expect(try message.argument("half") == 0.5 && message.argument("yes") == true)
            #expect(try message.argument("half") == [0.5] && message.argument("half") == [Float]?.some([0.5]))
            #expect(try message.argument("half") == Rate.half && message.argument("half") == [Rate.half])
            #expect(try message.argument("nothing") == Int?.none && message.argument("missing") == Int?.none)
            #expect(try message.argument("large") == UInt64.max)
            #expect(try message.parameters.require("large") == UInt64.max)
            #expect(try message.argument("user") == ["name": "Lili"])
            let anything: any Sendable = try message.argument("user")
            #expect(anything is [String: any Sendable])
            let maybe: (any Sendable)? = try message.argument("numbers")
            #expect(maybe is [any Sendable])
            let several: [any Sendable] = try message.argument("numbers")
            #expect(several.count == 2)
            return true
        }
        #expect(isRight)
    }

    @Test
    func `the error of an encoded parameter has the value and the needed type`() async throws {
        try await self.call("{\"user\":{\"nam\":1},\"age\":\"x\",\"list\":[1]}") { message in
            func mismatch<Value>(_ name: String, as: Value.Type) -> String {
                do throws(RoutingError) {
                    let _: Value = try message.argument(name)
                    return "none"
                } catch {
                    #expect(error.code == .invalidParameter)
                    return error.message
                }
            }
            #expect(mismatch("user", as: User.self) == "expected User, but `user` is JSON object")
            #expect(mismatch("user", as: Opaque.self) == "expected Opaque, but `user` is JSON object")
            #expect(mismatch("user", as: Int.self) == "expected Int, but `user` is JSON object")
            #expect(mismatch("list", as: String.self) == "expected String, but `list` is JSON array")
            #expect(mismatch("list", as: [User].self) == "expected [User], but `list` is JSON array")
            #expect(mismatch("age", as: Int.self) == "expected Int, but `age` is String \"x\"")
            #expect(throws: RoutingError.self) { try message.parameters.require("user", as: Int.self) }
        }
    }

    @Test
    func `an encoded parameter without a requested type is a plain value`() async throws {
        let text = "{\"list\":[1,\"a\"],\"object\":{\"b\":true},\"nothing\":null,\"text\":\"t\"}"
        try await self.call(text) { message in
            let call = message.parameters.call
            #expect(call["list"] is [any Sendable] && call["object"] is [String: any Sendable])
            #expect(call["text"] as? String == "t")
            #expect(
                message.parameters["list"] == "[1, \"a\"]" && message.parameters["object"] == "[\"b\": true]"
            )
            #expect(message.parameters["nothing"] == nil && message.parameters.all["list"] == "[1, \"a\"]")
            let more = message.with(parameters: ["c": 1])
            #expect(more.parameters["list"] == "[1, \"a\"]" && more.parameters["c"] == "1")
        }
    }

    @Test(arguments: ["18446744073709551615", "12345678901234567890.123456789", "1.50", "-0.0", "7"])
    func `a number that is read as text has the digits that were received`(digits: String) async throws {
        #expect(try await self.call(#"{"n":\#(digits)}"#) { $0.parameters["n"] ?? "" } == digits)
        #expect(try await self.call(#"{"n":\#(digits)}"#) { $0.parameters.all["n"] ?? "" } == digits)
        #expect(try await self.call(#"{"n":\#(digits)}"#) { $0.parameters.all("n") } == [digits])
    }
}
