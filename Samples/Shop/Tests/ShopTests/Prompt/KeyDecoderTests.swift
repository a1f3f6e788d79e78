import Testing

@testable import Shop

@Suite
struct KeyDecoderTests {
    @Test(arguments: [
        ("a", [Key.character("a")]), ("é茶🫖", [.character("é"), .character("茶"), .character("🫖")]),
        ("\r\n\t", [.enter, .enter, .tab]), ("\u{1}\u{7f}", [.control("a"), .backspace]),
        ("\u{1b}[A\u{1b}OB\u{1b}[C\u{1b}[D", [.up, .down, .right, .left]),
        ("\u{1b}[H\u{1b}[4~\u{1b}[3~", [.home, .end, .delete]),
        ("\u{1b}[1;5C\u{1b}b", [.wordRight, .wordLeft]), ("\u{1b}[15~x\u{9b}", [.character("x")]),
    ])
    func `the key decoder returns the same keys, however the bytes are split`(text: String, keys: [Key]) {
        var decoder = KeyDecoder()
        #expect(decoder.decode(text.utf8) == keys)
        var pieces: [Key] = []
        for byte in text.utf8 { pieces += decoder.decode(CollectionOfOne(byte)) }
        #expect(pieces == keys)
    }

    @Test func `a lone Escape is decoded as a key, and does not absorb the next key`() {
        var decoder = KeyDecoder()
        #expect(decoder.decode([0x1b]).isEmpty && decoder.isInEscape)
        #expect(decoder.endEscape() == [.escape] && !decoder.isInEscape)
        #expect(decoder.decode("q".utf8) == [.character("q")])
        #expect(decoder.decode("\u{1b}[".utf8).isEmpty && decoder.endEscape() == [.escape, .character("[")])
        #expect(decoder.decode("\u{1b}[A".utf8) == [.up] && decoder.endEscape().isEmpty)
    }

    @Test func `the key decoder skips bytes that are not UTF-8`() {
        var decoder = KeyDecoder()
        #expect(
            decoder.decode([0xff, 0x41, 0xe8, 0x28, 0x28, 0x42]) == [
                .character("A"), .character("("), .character("("), .character("B"),
            ]
        )
    }
}
