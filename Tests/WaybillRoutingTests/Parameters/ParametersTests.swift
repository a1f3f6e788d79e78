import Testing
import WaybillRouting

@Suite struct ParametersTests {
    func parameters(_ pattern: String, _ url: String) throws -> Parameters {
        var table = RouteTable<Int>()
        try table.insert(pattern, 1)
        return try #require(try table.match(url)).parameters
    }

    @Test func `a passed value takes precedence over the path, and the path over the query`() throws {
        var parameters = try self.parameters("/users/:id", "/users/1?id=2&name=Lili&name=Anna")
        #expect(parameters["id"] == "1")
        #expect(parameters["name"] == "Anna")
        #expect(parameters.all("name") == ["Lili", "Anna"])
        parameters = parameters.merging(call: ["id": 3])
        #expect(parameters["id"] == "3")
        #expect(try parameters.require("id") == 3)
        #expect(parameters.path == ["id": "1"])
        #expect(parameters.query == ["id": "2", "name": "Anna"])
        #expect(parameters.all == ["id": "3", "name": "Anna"])
    }

    @Test func `the error names the parameter that is missing or has the wrong type`() throws {
        let parameters = try self.parameters("/user", "/user?uid=abc&on=1")
        #expect(try parameters.require("on") == true)
        #expect(try parameters.value("none", as: Int.self) == nil)
        let wrong = #expect(throws: RoutingError.self) { try parameters.require("uid", as: Int.self) }
        #expect(wrong?.code == .invalidParameter)
        #expect(wrong?.message == "expected Int, but `uid` is String \"abc\"")
        #expect(wrong?.url == "/user?uid=abc&on=1")
        let missing = #expect(throws: RoutingError.self) { try parameters.require("id", as: Int.self) }
        #expect(missing?.code == .missingParameter)
        #expect(missing?.message == "expected Int, but there is no parameter `id`")
    }

    @Test func `a passed value that is not text is not converted to text by its description`() throws {
        let parameters = try self.parameters("/user", "/user?v=1").merging(call: [
            "number": 5, "list": [5], "part": "x5".dropFirst(), "negative": -1,
        ])
        #expect(try parameters.require("number", as: Int.self) == 5)
        #expect(try parameters.require("number", as: UInt8.self) == 5)
        #expect(try parameters.require("number", as: Double.self) == 5)
        #expect(try parameters.require("part", as: Int.self) == 5)
        func message(_ body: () throws -> Void) -> String? {
            let error = #expect(throws: RoutingError.self) { try body() }
            #expect(error?.code == .invalidParameter)
            return error?.message
        }
        #expect(
            message { _ = try parameters.require("number", as: String.self) }
                == "expected String, but `number` is Int 5"
        )
        #expect(
            message { _ = try parameters.require("number", as: Bool.self) }
                == "expected Bool, but `number` is Int 5"
        )
        #expect(
            message { _ = try parameters.require("list", as: String.self) }
                == "expected String, but `list` is [Int]"
        )
        #expect(
            message { _ = try parameters.require("negative", as: UInt8.self) }
                == "expected UInt8, but `negative` is Int -1"
        )
    }

    @Test func `a parameter of the query has exactly the name of its item`() throws {
        let parameters = try self.parameters("/a", "/a?e\u{301}=1")
        #expect(parameters["\u{E9}"] == nil && parameters.all("\u{E9}").isEmpty)
        #expect(parameters["e\u{301}"] == "1" && parameters.all("e\u{301}") == ["1"])
    }

    @Test func `a nil passed as a parameter is a missing parameter`() throws {
        let none: Int? = nil
        let some: Int? = 7
        let parameters = try Parameters(
            address: Address("app://a?none=1"),
            call: ["none": none, "some": some]
        )
        #expect(parameters["none"] == nil)
        #expect(try parameters.value("none", as: Int.self) == nil)
        #expect(try parameters.value("some", as: Int.self) == 7)
        #expect(parameters.all("none").isEmpty)
        #expect(parameters.all["none"] == nil)
        #expect(throws: RoutingError.self) { try parameters.require("none", as: String.self) }
    }

    @Test func `the text of a passed optional is the text of its value`() throws {
        let nested: Int?? = 5
        let empty: Int?? = .some(nil)
        let parameters = try Parameters(
            address: Address("app://a?user=6"),
            call: ["user": Optional(5), "nested": nested, "empty": empty, "name": Optional("Lili")]
        )
        #expect(parameters["user"] == "5" && parameters.all("user") == ["5"])
        #expect(parameters["nested"] == "5" && parameters["name"] == "Lili")
        #expect(parameters["empty"] == nil && parameters.all("empty").isEmpty)
        #expect(parameters.all == ["user": "5", "nested": "5", "name": "Lili"])
        #expect(Parameters.text(of: Optional(5)) == "5")
    }
}
