import Testing
import Waybill

@testable import Shop

@Suite
struct CompleterTests {
    @Test func `patterns are completed up to their first placeholder`() async throws {
        let completer = Completer(routes: try await Storefront().bus.routes, words: ["help"])
        #expect(
            completer.candidates(for: "app://catalog/categ") == [
                "app://catalog/categories", "app://catalog/category/",
            ]
        )
        #expect(completer.candidates(for: "/orders/c") == ["/orders/cancel/"])
        #expect(completer.candidates(for: "he") == ["help"])
        #expect(completer.candidates(for: "moon").isEmpty)
    }

    @Test(arguments: [([String](), ""), (["a"], "a"), (["abc", "abd"], "ab"), (["a", "b"], "")])
    func `words have a beginning in common`(words: [String], prefix: String) {
        #expect(Completer.commonPrefix(of: words) == prefix)
    }
}
