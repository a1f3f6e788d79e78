import Testing
import Waybill

@testable import Shop

@Suite
struct CompleterTests {
    @Test func `a pattern is completed up to its first placeholder`() async throws {
        let completer = Completer(routes: try await Storefront().bus.routes, words: ["help"])
        #expect(
            completer.candidates(for: "app://catalog/categ") == [
                "app://catalog/categories", "app://catalog/category/",
            ]
        )
        #expect(completer.candidates(for: "/orders/c") == ["/orders/cancel/"])
        #expect(completer.candidates(for: "catalog/se") == ["catalog/search"])
        let urls = completer.candidates(for: "app://ca")
        #expect(completer.candidates(for: "ca") == urls.map { String($0.dropFirst(6)) })
        #expect(completer.candidates(for: "he") == ["help"])
        #expect(completer.candidates(for: "moon").isEmpty)
    }

    @Test func `URLs of the default scheme are completed without the scheme`() {
        let completer = Completer(
            words: ["screen://cart", "screen://category/", "app://cart/show"],
            scheme: "screen"
        )
        #expect(completer.candidates(for: "ca") == ["cart", "category/"])
        #expect(completer.candidates(for: "app:") == ["app://cart/show"])
        #expect(completer.candidates(for: "").count == 3)
    }

    @Test(arguments: [
        ("routs", "routes"), ("rotues", "routes"), ("hlep", "help"), ("format jso", "format json"),
        ("quti", "quit"),
        ("cart/show", nil), ("x", nil), ("", nil), ("helping hand", nil),
    ])
    func `a mistyped word suggests the nearest one`(text: String, word: String?) {
        let words = ["help", "routes", "format json", "format text", "quit"]
        #expect(Completer.nearest(to: text, among: words) == word)
    }

    @Test(arguments: [([String](), ""), (["a"], "a"), (["abc", "abd"], "ab"), (["a", "b"], "")])
    func `commonPrefix returns the longest common beginning of words`(words: [String], prefix: String) {
        #expect(Completer.commonPrefix(of: words) == prefix)
    }
}
