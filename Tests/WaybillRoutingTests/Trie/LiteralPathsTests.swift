import Testing
import WaybillTestSupport

@testable import WaybillRouting

@Suite struct LiteralPathsTests {
    private static let rests: [LongText] = [
        "", "?a=1", "?a=1&b=2#next", "#next", "?", "#", "/", "//", "?a=%41", "?a=%ff", "?a=1#%41", "?#?",
        "?a/b=c/d",
        "?\(String(repeating: "a=1&", count: 2_000))",
    ]

    @Test(arguments: rests)
    func `a URL that equals a pattern has the same match as by search`(
        rest: LongText
    ) throws {
        var written = RouteTable<Int>()
        try written.insert("app://feed/detail", 1)
        #expect(written.trie.paths.count == 1)
        var searched = RouteTable<Int>()
        try searched.insert("app:feed/detail", 1)
        let url = "app://feed/detail" + rest.text
        #expect(self.reading(of: url, in: written) == self.reading(of: url, in: searched))
    }

    private func reading(of url: String, in table: RouteTable<Int>) -> [String] {
        do {
            guard let match = try table.match(url) else { return ["none"] }
            let address = match.parameters.address
            let values = match.parameters.all.map { "\($0)=\($1)" }.sorted()
            return [
                address.scheme, address.path, address.query ?? "nil", address.fragment ?? "nil", address.text,
                "\(address.segments)", "\(address.hasScheme)", "\(match.parameters.hasFragment)",
            ] + values
        } catch {
            return ["\(error.code)"]
        }
    }

    @Test(arguments: 8...40, ["", "?", "?page=1", "?page=1&sort=updated&direction=descending"])
    func `the scanner reads a URL to its end only if its first bytes begin a pattern`(
        length: Int,
        query: String
    ) throws {
        let path = "app://" + String(repeating: "a", count: length - 6)
        var table = RouteTable<Int>()
        try table.insert(path, 1)
        let beginnings = table.trie.paths.beginnings
        #expect(ScannedPath((path + query).utf8.span, beginnings)?.end == length)
        for other in ["bpp://", "app://b", "app://aaaaaaaab"] {
            let url = other + String(repeating: "a", count: 16)
            #expect(ScannedPath(url.utf8.span, beginnings) == nil)
            #expect(try table.match(url) == nil)
        }
    }

    @Test(arguments: ["app://feed/:id", "app://feed/*", "app://feed(/detail)", "app://feed/caf%C3%A9", "a:b"])
    func `a pattern that is not its own URL is not in the literal paths`(pattern: String) throws {
        var table = RouteTable<Int>()
        try table.insert(pattern, 1)
        #expect(table.trie.paths.isEmpty)
    }

    @Test func `a table whose literals do not take precedence searches for each URL`() throws {
        var conventions = RoutingConventions.waybill
        conventions.bestMatch = .firstRegistered
        var table = RouteTable<Int>(conventions: conventions)
        try table.insert("app://feed/:id", 1)
        try table.insert("app://feed/detail", 2)
        #expect(table.trie.paths.isEmpty)
        let match = try #require(try table.match("app://feed/detail"))
        #expect(table[match] == 1)
    }

    @Test func `each of many literal routes is found until it is removed`() throws {
        var table = RouteTable<Int>()
        var ids: [RouteID] = []
        for number in 0..<3_000 {
            ids.append(try table.insert("app://module\(number % 50)/action/\(number)", number))
        }
        let copy = table
        for (number, id) in ids.enumerated() where number % 3 != 0 { #expect(table.remove(id) == number) }
        #expect(table.trie.paths.count == 1_000)
        for number in 0..<3_000 {
            let url = "app://module\(number % 50)/action/\(number)?page=1"
            #expect(try table.match(url)?.route == (number % 3 == 0 ? ids[number] : nil))
            #expect(try copy.match(url)?.route == ids[number])
        }
    }

    @Test func `a pattern that replaces another also matches its URLs`() throws {
        var conventions = RoutingConventions.waybill
        conventions.sameShape = .replaces
        var table = RouteTable<Int>(conventions: conventions)
        try table.insert("app://feed/detail", 1)
        try table.insert("app:/feed/detail", 2)
        for url in ["app://feed/detail", "app:/feed/detail", "app://feed//detail"] {
            let match = try #require(try table.match(url))
            #expect(table[match] == 2)
        }
    }
}
