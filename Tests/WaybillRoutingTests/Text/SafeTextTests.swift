import Testing
import WaybillRouting

@Suite struct SafeTextTests {
    @Test(arguments: [
        ("plain 茶 “quoted”…", "plain 茶 “quoted”…"), ("a\nb\r\tc", #"a\nb\r\tc"#),
        ("\u{1b}[31mred", #"\u{1B}[31mred"#),
        ("\u{0}\u{7f}\u{9b}", #"\0\u{7F}\u{009B}"#), ("a\u{85}b", #"a\u{0085}b"#),
        ("\u{2028}\u{2029}", #"\u{2028}\u{2029}"#),
        ("\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}", #"\u{202A}\u{202B}\u{202C}\u{202D}\u{202E}"#),
        ("\u{2066}\u{2067}\u{2068}\u{2069}", #"\u{2066}\u{2067}\u{2068}\u{2069}"#),
        ("\u{200e}\u{200f}\u{61c}", #"\u{200E}\u{200F}\u{061C}"#), ("é\u{a0}\u{200d}", "é\u{a0}\u{200d}"),
        ("", ""),
    ])
    func `only characters that break a line or control a terminal are escaped`(
        text: String,
        safe: String
    ) {
        #expect(SafeText.line(text) == safe)
        #expect(SafeText.line(safe) == safe)
        #expect(SafeText.line(Substring(text)) == safe)
    }

    @Test(arguments: [
        (8_000, 200, "(8,000 bytes)"), (1_234_567, 5, "(1,234,567 bytes)"), (11, 10, "(11 bytes)"),
        (3, 0, "(3 bytes)"),
        (3, -1, "(3 bytes)"),
    ])
    func `a long text is shortened, and its length is appended`(count: Int, limit: Int, end: String) {
        let text = SafeText.line(String(repeating: "x", count: count), limit: limit)
        #expect(text == String(repeating: "x", count: max(0, limit)) + "… " + end)
    }

    @Test func `the limit of a text counts characters, and not bytes`() {
        let text = String(repeating: "茶", count: 10)
        #expect(SafeText.line(text, limit: 10) == text)
        #expect(SafeText.line(text, limit: 9) == String(repeating: "茶", count: 9) + "… (30 bytes)")
    }

    @Test func `a letter with a thousand accents is shortened like a long text`() {
        let text = "e" + String(repeating: "\u{301}", count: 1_000)
        #expect(SafeText.line(text, limit: 30).unicodeScalars.count < 60)
    }

    @Test func `an error is described in one line of limited length`() throws {
        struct Cause: Error, CustomStringConvertible {
            let description = "line\n" + String(repeating: "c", count: 100_000)
        }
        let long = String(repeating: "u", count: 8_000)
        let error = RoutingError(
            .noRoute,
            url: "app://a\n\u{202e}" + long,
            message: "no\u{1b}[2J" + long,
            cause: Cause()
        )
        let line = "\(error)"
        #expect(line.hasPrefix(#"noRoute app://a\n\u{202E}uuu"#))
        #expect(line.contains(#"no\u{1B}[2Juuu"#) && line.contains(#"(cause: line\nccc"#))
        #expect(line.contains("(8,011 bytes)") && line.utf8.count < 3_000)
        #expect(!error.message.contains("\u{1b}") && error.message.utf8.count < 1_100)
        // The URL is kept whole for programs.
        #expect(error.url.hasSuffix(long))
    }
}
