import Testing

@testable import Shop

@Suite
struct SafeTextTests {
    @Test(arguments: [
        ("plain 茶", "plain 茶"), ("a\nb\r\tc", "a\\nb\\r\\tc"), ("\u{1b}[31mred", "\\u{1b}[31mred"),
        ("\u{0}\u{7f}\u{9b}", "\\u{0}\\u{7f}\\u{9b}"), ("\u{202e}txt\u{2028}", "\\u{202e}txt\\u{2028}"),
    ])
    func `control characters are spelled out`(text: String, safe: String) {
        #expect(SafeText.escape(text) == safe)
    }

    @Test func `long text is cut in the middle and says how long it was`() {
        let text = "begin" + String(repeating: "x", count: 1_000) + "end"
        let clipped = SafeText.clip(text, to: 30)
        #expect(clipped == "beginxxxxxxxxxxxxxxx ... xxxxxxxend (1008 bytes)")
        #expect(SafeText.clip("short", to: 30) == "short")
    }

    @Test func `a letter with a thousand accents is long text`() {
        let text = "e" + String(repeating: "\u{301}", count: 1_000)
        #expect(SafeText.clip(text, to: 30).unicodeScalars.count < 100)
    }
}
