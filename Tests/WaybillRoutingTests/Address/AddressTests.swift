import Testing
import WaybillRouting
import WaybillTestSupport

@Suite struct AddressTests {
    @Test func `an address has the parts of its URL`() throws {
        let address = try Address("APP://user/Lili%20S//x?a=1&b&=3&c=%E5%80%BC&a=2#home/receipt?z=%20")
        #expect(address.scheme == "app")
        #expect(address.hasScheme)
        #expect(address.segments == ["user", "Lili S", "x"])
        #expect(address.path == "user/Lili%20S//x")
        #expect(address.queryItems.map(\.name) == ["a", "b", "c", "a"])
        #expect(address.queryItems.map(\.value) == ["1", "", "值", "2"])
        #expect(address.fragment == "home/receipt?z=%20")
    }

    @Test(arguments: ["", "app://a/%FF", "?a=%C3", "a/%E5%80"])
    func `an invalid URL is rejected`(text: String) throws {
        let error = #expect(throws: RoutingError.self) { try Address(text) }
        #expect(error?.code == .invalidURL)
        #expect(error?.message.contains(text.isEmpty ? ": write a URL" : ": encode the text") == true)
    }

    @Test func `the error for a missing scheme describes the remedy`() {
        let url = #expect(throws: RoutingError.self) { try Address("/a", defaultScheme: "") }
        #expect(url?.message.contains(": begin the URL with a scheme") == true)
        let pattern = #expect(throws: RoutingError.self) { try RoutePattern("/a", defaultScheme: "") }
        #expect(pattern?.message.contains(": begin the pattern with a scheme") == true)
    }

    /// Compares the scanner, which reads eight bytes at a time, with splitting the text at its delimiters.
    @Test func `any URL is split at its delimiters`() throws {
        var random = SeededGenerator(seed: 6)
        for _ in 0..<4_000 {
            var text = random.chance(50) ? "app:" : "/"
            for _ in 0..<random.next() % 30 {
                text += random.pick([
                    "a", "b", "/", "?", "#", "=", "&", "é", "seven77", "longer than eight", "%41", "%z",
                ])
            }
            let address = try Address(text, limits: RoutingLimits(segments: 1_000))
            let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let way = parts[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            #expect(address.fragment == (parts.count > 1 ? String(parts[1]) : nil), "\(text)")
            #expect(address.query == (way.count > 1 ? String(way[1]) : nil), "\(text)")
            let path = way[0].hasPrefix("app:") ? way[0].dropFirst(4) : way[0]
            let segments = path.split(separator: "/").map { String($0.replacing("%41", with: "A")) }
            #expect(address.segments == segments, "\(text)")
            var table = RouteTable<Int>(limits: RoutingLimits(segments: 1_000))
            try table.insert("/" + segments.map { $0.replacing("%", with: "%25") }.joined(separator: "/"), 1)
            #expect(try table.match(text) != nil, "\(text)")
        }
    }
}
