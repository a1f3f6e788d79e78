import Testing
import WaybillRouting

@Suite struct ParametersTests {
    func parameters(_ pattern: String, _ url: String) throws -> Parameters {
        var table = RouteTable<Int>()
        try table.insert(pattern, 1)
        return try #require(try table.match(url)).parameters
    }

    @Test func `call wins over path and path over query`() throws {
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

    @Test func `what is missing or wrong is an error that names it`() throws {
        let parameters = try self.parameters("/user", "/user?uid=abc&on=1")
        #expect(try parameters.require("on") == true)
        #expect(try parameters.value("none", as: Int.self) == nil)
        let wrong = #expect(throws: RoutingError.self) { try parameters.require("uid", as: Int.self) }
        #expect(wrong?.code == .invalidParameter)
        #expect(wrong?.message == "`uid` is not an Int: abc")
        #expect(wrong?.url == "/user?uid=abc&on=1")
        let missing = #expect(throws: RoutingError.self) { try parameters.require("id", as: Int.self) }
        #expect(missing?.code == .missingParameter)
    }
}
