import Testing

@testable import Shop

@Suite
struct LineSplitterTests {
    private func lines(_ bytes: [UInt8], piece: Int, limit: Int = 10) -> [LineSplitter.Line] {
        var splitter = LineSplitter(limit: limit)
        var lines: [LineSplitter.Line] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            splitter.append(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            while let line = splitter.next() { lines.append(line) }
        }
        if let line = splitter.finish() { lines.append(line) }
        return lines
    }

    @Test(arguments: [1, 2, 3, 7, 1_000])
    func `the line splitter returns the same lines, however the bytes are split`(piece: Int) {
        let bytes = Array("one\n\ntwo\r\nünï\n12345678901234567890\n1234567890\nlast".utf8)
        #expect(
            self.lines(bytes, piece: piece) == [
                .text("one"), .text(""), .text("two"), .text("ünï"), .tooLong(20), .text("1234567890"),
                .text("last"),
            ]
        )
    }

    @Test(arguments: [1, 5, 1_000])
    func `a line that is too long is reported with its length, and the next line is read`(piece: Int) {
        let bytes = Array(repeating: UInt8(ascii: "x"), count: 100_000)
        #expect(self.lines(bytes, piece: piece) == [.tooLong(100_000)])
        #expect(self.lines(bytes + [10, 65, 10], piece: piece) == [.tooLong(100_000), .text("A")])
    }

    @Test func `the line splitter reports a line that is not UTF-8`() {
        #expect(
            self.lines([0x41, 10, 0xff, 0xfe, 10, 0x42, 10], piece: 3) == [.text("A"), .garbled, .text("B")]
        )
        #expect(self.lines([0xc3], piece: 1) == [.garbled])
    }

    @Test func `the line splitter returns no line for an empty input`() {
        #expect(self.lines([], piece: 1).isEmpty)
    }
}
