#if HTTP
import Testing
import WaybillRouting

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
        ("app://a?token=ab;cd?ef&b=1", "app://a?token=…&b=1"),
        ("app://a?b=1?token=c", "app://a?b=1?token=c"),
        ("app://a#token=abc", "app://a#token=…"),
        ("app://a#home%2Fx%3Ftoken%3Dabc", "app://a#…"), ("app://a?b=1#home%252Fabc?x=1", "app://a?b=1#…"),
        ("app://a#home/a%20b?token=abc#c?token=d", "app://a#home/a%20b?token=…#c?token=…"),
        ("app://a?token=&b=1", "app://a?token=&b=1"), ("app://token/a", "app://token/a"), ("", ""),
    ])
    func `redaction hides the values of a URL's parameters by their names`(url: String, shown: String) {
        #expect(self.redaction.url(url).text == shown)
    }

    @Test
    func `redaction hides a path parameter, and its value in a sentence`() {
        let shown = self.redaction.url("app://reset/a%20b/7", path: [("token", 12..<17), ("id", 18..<19)])
        #expect(shown.text == "app://reset/…/7")
        #expect(shown.hidden == ["a%20b", "a b"])
        #expect(
            self.redaction.sentence("no user has a b, or a%20b", without: shown.hidden)
                == "no user has …, or …"
        )
    }

    @Test
    func `redaction hides a value that a sentence quotes escaped or cut`() {
        let long = String(repeating: "long ", count: 60)
        let shown = self.redaction.url("app://a?token=\(long)&api-key=a%0Ab")
        #expect(
            self.redaction.sentence(
                "not `\(SafeText.line(long, limit: SafeText.limit))`",
                without: shown.hidden
            )
                == "not `…… (300 bytes)`"
        )
        #expect(self.redaction.sentence(#"not `a\nb`"#, without: shown.hidden) == "not `…`")
    }
}
#endif
