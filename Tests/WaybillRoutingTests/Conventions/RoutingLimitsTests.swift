import Testing
import WaybillRouting

@Suite struct RoutingLimitsTests {
    static let limits = RoutingLimits(
        urlLength: 64,
        segments: 4,
        parameters: 2,
        queryItems: 2,
        patternLength: 40,
        routes: 2
    )

    @Test(arguments: [
        (String(repeating: "a", count: 65), "`urlLength`"), ("/a/b/c/d/e", "`segments`"),
        ("/a?b=1&c=2&d=3", "`queryItems`"),
    ])
    func `a URL beyond a limit fails with the name of the limit`(url: String, name: String) throws {
        let error = #expect(throws: RoutingError.self) { try Address(url, limits: Self.limits) }
        #expect(error?.code == .invalidURL)
        #expect(error?.message.contains(name) == true)
    }

    @Test(arguments: [
        ("/" + String(repeating: "a", count: 40), "`patternLength`"), ("/a/b/c/d/e", "`segments`"),
        ("/:a/:b/:c", "`parameters`"),
    ])
    func `a pattern beyond a limit fails with the name of the limit`(pattern: String, name: String) throws {
        let error = #expect(throws: RoutingError.self) { try RoutePattern(pattern, limits: Self.limits) }
        #expect(error?.code == .invalidPattern)
        #expect(error?.message.contains(name) == true)
    }

    @Test func `a full route table fails with the name of the limit`() throws {
        var table = RouteTable<Int>(limits: Self.limits)
        try table.insert("/a", 1)
        try table.insert("/b", 2)
        let error = #expect(throws: RoutingError.self) { try table.insert("/c", 3) }
        #expect(error?.message.contains("`routes`") == true)
        table.remove("/a")
        try table.insert("/c", 3)
    }

    @Test func `a URL within the limits is accepted`() throws {
        let address = try Address("/a/b/c/d?e=1&f=2&&=&", limits: Self.limits)
        #expect(address.segments.count == 4)
    }

    @Test func `the default limits accept 8,192 bytes and 128 segments, and no more`() throws {
        #expect(throws: RoutingError.self) { try Address(String(repeating: "a", count: 8_193)) }
        #expect(try Address(String(repeating: "a", count: 8_192)).segments.count == 1)
        #expect(try Address(String(repeating: "a/", count: 128)).segments.count == 128)
        #expect(throws: RoutingError.self) { try Address(String(repeating: "a/", count: 129)) }
        let huge = RoutingLimits(urlLength: .max)
        #expect(throws: RoutingError.self) {
            try Address(String(repeating: "a", count: 65_536), limits: huge)
        }
    }
}
