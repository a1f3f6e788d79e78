import Testing

@testable import WaybillRouting

/// Text that is put together of pieces.
struct TextBufferTests {
    @Test func `pieces of any length stand one behind the other`() {
        for first in 0...20 {
            for second in 0...20 {
                let pieces = [String(repeating: "a", count: first), String(repeating: "é", count: second)]
                var buffer = TextBuffer()
                buffer.add(pieces[0])
                buffer.add(UInt8(ascii: "?"))
                buffer.add(pieces[1])
                buffer.add(-first)
                #expect(buffer.text == "\(pieces[0])?\(pieces[1])\(-first)")
            }
        }
    }

    @Test func `there is room for as much as it says`() {
        for size in 1...9 {
            var buffer = TextBuffer()
            var text = ""
            while text.utf8.count + size <= TextBuffer.capacity {
                let piece = String("abcdefghi".prefix(size))
                buffer.add(piece)
                text += piece
            }
            #expect(buffer.text == text)
        }
    }
}
