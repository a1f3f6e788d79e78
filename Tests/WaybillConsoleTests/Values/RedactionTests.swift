#if HTTP
import Testing

@testable import WaybillConsole

@Suite
struct RedactionTests {
    private let redaction = Redaction(["token", "api-key"])

    @Test(arguments: [
        ("app://a?token=abc&b=1", "app://a?token=…&b=1"),
        ("app://a?b=1&Session_Token=abc#home/x?TOKEN=def", "app://a?b=1&Session_Token=…#home/x?TOKEN=…"),
        ("app://a?x=1&APIKEY=a%20b", "app://a?x=1&APIKEY=…"),
        ("app://a?%74oken=abc", "app://a?%74oken=…"),
        ("https://lili:pass@example.com/?a=1", "https://…@example.com/?a=1"),
        ("app://a?token=&b=1", "app://a?token=&b=1"), ("app://token/a", "app://token/a"), ("", ""),
    ])
    func `values of a URL are hidden by their names`(url: String, shown: String) {
        #expect(self.redaction.url(url).text == shown)
    }

    @Test
    func `a parameter of the path is hidden, and found in a sentence`() {
        let shown = self.redaction.url("app://reset/a%20b/7", path: [("token", 12..<17), ("id", 18..<19)])
        #expect(shown.text == "app://reset/…/7")
        #expect(shown.hidden == ["a%20b", "a b"])
        #expect(
            self.redaction.sentence("no user has a b, or a%20b", without: shown.hidden)
                == "no user has …, or …"
        )
    }
}
#endif
