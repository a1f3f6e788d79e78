import Testing

@testable import WaybillRouting

@Suite
struct PlainPatternTests {
    static let patterns = [
        "app://user/detail", "app://user/:uid", "app://user/:uid/avatar", "app://user/:uid/:size", "app://x",
        "app://~a/b-c_d.e", "app://user/:uid/.well", "app://:tenant/users", "app://user/", "app://user//x",
        "app:/user", "/user/:uid", "App://user/:uid", "app://user/<int:uid>", "app://user/:uid(\\d+)",
        "app://user/<uid>", "app://user/*", "app://user/**", "app://user(/:uid)", "app://user/:uid/:uid",
        "app://größe/:uid", "app://user/a b", "app://user/%41", "app://user?x=1", "app://user#x", "",
        "app://",
        "://x", "app://user/:", "app://user/:1", "app://user/x:uid", "app://user/.", "app://user/..",
    ]
    static let values = [
        "7", "-1", "a b", "a/b", "Ä & Ö", "", ".", "..", ".x", "a.b", ":uid", "?", "#", "%2F", "\0",
    ]

    @Test(arguments: patterns)
    func `a URL printed by the plain form equals a URL of the parsed pattern`(pattern: String) throws {
        for uid in Self.values {
            for other in Self.values where !other.isEmpty {
                let values = [
                    (name: "uid", text: uid), (name: "size", text: other), (name: "n m", text: other),
                ]
                guard let url = PlainPattern.url(pattern, values) else { continue }
                #expect(url == (try Self.general(pattern, values)))
            }
        }
        if PlainPattern.isURL(pattern) { #expect(try RoutePattern(pattern).url(with: [:]) == pattern) }
    }

    @Test
    func `a pattern with only literals and names is plain`() {
        #expect(Self.patterns.prefix(6).map(PlainPattern.isURL) == [true, false, false, false, true, true])
        #expect(PlainPattern.url("app://user/:uid", [("uid", "a/b"), ("x", "1")]) == "app://user/a%2Fb?x=1")
        #expect(Self.patterns.dropFirst(6).allSatisfy { !PlainPattern.isURL($0) })
    }

    /// Returns the URL of the general printer: the values of the pattern, and a query with the other values
    /// in their order.
    private static func general(
        _ text: String,
        _ values: [(name: String, text: String)]
    ) throws -> String {
        let pattern = try RoutePattern(text)
        let named = Set(pattern.parameters.map(\.name))
        var path: [String: String] = [:]
        for (name, text) in values where named.contains(name) { path[name] = text }
        let query = values.filter { !named.contains($0.name) }
            .map { "\(Address.encode($0.name))=\(Address.encode($0.text))" }
        return try pattern.url(with: path) + (query.isEmpty ? "" : "?\(query.joined(separator: "&"))")
    }
}
