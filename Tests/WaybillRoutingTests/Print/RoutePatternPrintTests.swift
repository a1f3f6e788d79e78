import Testing
import WaybillRouting

@Suite struct RoutePatternPrintTests {
    @Test(arguments: [
        ("app://user/:id", ["id": "Lili S/值"], "app://user/Lili%20S%2F%E5%80%BC"),
        ("/files/{name}.jpg", ["name": "a b"], "app://files/a%20b.jpg"),
        ("/a(/:b)(/c/:d)", ["d": "2"], "app://a/c/2"),
        ("/d/**rest", ["rest": "x/y z"], "app://d/x/y%20z"),
        ("/user", ["q": "1&2", "p": ""], "app://user?p=&q=1%262"),
        ("/", [:], "app://"),
    ])
    func `values become a URL`(pattern: String, values: [String: String], url: String) throws {
        #expect(try RoutePattern(pattern).url(with: values) == url)
    }

    @Test(arguments: [
        ("/user/:id", [:], RoutingError.Code.missingParameter, "`id`"),
        ("/user/:id", ["id": ""], .invalidParameter, "`id` is empty"),
        ("/user/<int:id>", ["id": "abc"], .invalidParameter, "`id` is not an int: abc"),
        ("/:a-:b", ["a": "x-y", "b": "z"], .invalidParameter, "would not be read back"),
        ("/d/**rest", ["rest": "x//y"], .invalidParameter, "empty segment"),
        ("/d/*", [:], .missingParameter, "no name"),
    ])
    func `what cannot be printed is an error that says why`(
        pattern: String,
        values: [String: String],
        code: RoutingError.Code,
        message: String
    ) throws {
        let error = #expect(throws: RoutingError.self) { try RoutePattern(pattern).url(with: values) }
        #expect(error?.code == code)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
}
