import Testing
import WaybillRouting

@Suite struct ByteSearchTests {
    @Test(arguments: [
        ("text/event-stream, */*", "text/event-stream", true), ("text/event", "text/event-stream", false),
        ("aab", "ab", true), ("abab", "abb", false), ("", "", true), ("a", "", true), ("", "a", false),
        ("caf\u{e9}", "e\u{301}", false), ("\u{e9}", "\u{e9}", true),
    ])
    func `a byte search finds a text by its bytes`(text: String, other: String, isFound: Bool) {
        #expect(text.hasBytes(of: other) == isFound)
    }
}
