import Testing
import WaybillJSON
import WaybillTestSupport

@testable import WaybillServe

struct FrameReaderTests {
    /// The frames in some pieces of text, and how the last one ended.
    private func read(_ pieces: [[UInt8]], limit: Int = 100) -> (frames: [String], error: FrameError?) {
        var reader = FrameReader(limit: limit)
        var frames: [String] = []
        do throws(FrameError) {
            for piece in pieces {
                reader.append(piece)
                while let frame = try reader.next() {
                    frames.append(String(decoding: frame.slice, as: UTF8.self))
                }
            }
            return (frames, nil)
        } catch {
            return (frames, error)
        }
    }

    private static let lines = "{\"a\":1}\n\r\n [2]\r\n{\"c\":\n"
    private static let headers =
        "Content-Length: 7\r\n\r\n{\"a\":1}content-length:3\r\nContent-Type: x\r\n\r\n[2]Content-Length: 9\r\n\r\n{"

    @Test(arguments: [1, 2, 3, 7, 1000])
    func `the frame reader cuts lines and headers, however the bytes are split`(size: Int) {
        for (text, expected) in [
            (Self.lines, ["{\"a\":1}", "[2]\r", "{\"c\":"]), (Self.headers, ["{\"a\":1}", "[2]"]),
        ] {
            let bytes = Array(text.utf8)
            let pieces = stride(from: 0, to: bytes.count, by: size).map {
                Array(bytes[$0..<min($0 + size, bytes.count)])
            }
            let (frames, error) = self.read(pieces)
            #expect(frames == expected && error == nil)
        }
    }

    @Test(arguments: ["GET / HTTP/1.1\r\n", "\u{16}\u{3}\u{1}", "POST", "x", "\"text\"\n", "7\n"])
    func `the frame reader rejects bytes of another protocol`(text: String) {
        #expect(self.read([Array(text.utf8)]).error == .notRPC)
    }

    private static let malformed: [LongText] = [
        "Content-Type: x\r\n\r\n{}", "Content-Length: -1\r\n\r\n", "Content-Length: 1x\r\n\r\n{}",
        "Content-Length: 99999999999999999999\r\n\r\n", "Content-Length:\r\n\r\n", "Content\r\n\r\n",
        "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "C\(String(repeating: "a", count: 5000))",
    ]

    @Test(arguments: malformed)
    func `a header without a valid length ends the stream`(header: LongText) {
        #expect(self.read([Array(header.text.utf8)]).error == .malformedHeader)
    }

    @Test
    func `a frame beyond the size limit is rejected, complete or not`() {
        let long = [UInt8](repeating: UInt8(ascii: "["), count: 101)
        #expect(self.read([long]).error == .tooLarge(limit: 100))
        #expect(self.read([Array(long[1...]), [10]]).frames.count == 1)
        #expect(self.read([long + [10]]).error == .tooLarge(limit: 100))
        #expect(self.read([Array("Content-Length: 101\r\n\r\n".utf8)]).error == .tooLarge(limit: 100))
    }

    @Test
    func `the frame reader adds up how long the rest of a partial frame was awaited`() throws {
        var reader = FrameReader(limit: 100, at: 1)
        #expect(reader.lastReceived == 1 && reader.partialFrameWait == nil)
        reader.append(Array("{".utf8), at: 20, after: 19)
        #expect(try reader.next() == nil)
        #expect(reader.partialFrameWait == 0)
        reader.append(Array(" ".utf8), at: 23, after: 3)
        reader.append(Array("}".utf8), at: 28, after: 5)
        #expect(try reader.next() == nil)
        #expect(reader.lastReceived == 28 && reader.partialFrameWait == 8)
        reader.append(Array("\n{".utf8), at: 30, after: 1)
        #expect(try reader.next() != nil)
        #expect(reader.partialFrameWait == 0)
        reader.append(Array("}\n".utf8), at: 40, after: 10)
        #expect(try reader.next() != nil)
        #expect(try reader.next() == nil)
        #expect(reader.partialFrameWait == nil)
    }

    @Test
    func `the beginning of a frame does not keep the memory of the frames before it`() throws {
        var reader = FrameReader(limit: 1 << 20)
        let large = "{\"x\":\"" + String(repeating: "x", count: 100_000) + "\"}\n{"
        for bytes in [large.utf8.dropLast(10), large.utf8.suffix(10)] { reader.append(Array(bytes)) }
        #expect(try reader.next()?.range.count == 100_008)
        #expect(try reader.next() == nil)
        let bytes = try #require(Mirror(reflecting: reader).descendant("bytes") as? [UInt8])
        #expect(bytes.count < 10)
        reader.append(Array("}\n".utf8))
        #expect(try reader.next()?.slice.elementsEqual("{}".utf8) == true)
    }

    @Test
    func `a small frame after a large frame does not keep the memory of the large frame`() throws {
        var reader = FrameReader(limit: 1 << 20)
        let large = "{\"x\":\"" + String(repeating: "x", count: 100_000) + "\"}\n"
        reader.append(Array((large + "[1]\n[2]\n").utf8))
        #expect(try reader.next()?.range.count == 100_008)
        #expect(try reader.next()?.slice.elementsEqual("[1]".utf8) == true)
        // The owner of the reader does not ask for the next frame while it handles this one.
        let bytes = try #require(Mirror(reflecting: reader).descendant("bytes") as? [UInt8])
        #expect(bytes.count < 10)
        #expect(try reader.next()?.slice.elementsEqual("[2]".utf8) == true)
    }

    @Test
    func `a small frame does not keep the memory of the bytes that arrived with it`() throws {
        var reader = FrameReader(limit: 1 << 20)
        let lines = Array(("{}" + String(repeating: "\n", count: 60_000)).utf8)
        reader.append(lines)
        let frame = try #require(try reader.next())
        let bytes = try #require(Mirror(reflecting: frame).descendant("bytes") as? [UInt8])
        #expect(bytes == Array("{}".utf8))
        reader.append(Array("[2]\n".utf8))
        #expect(try reader.next()?.slice.elementsEqual("[2]".utf8) == true)
    }

    @Test
    func `a message with line breaks between its tokens is sent as one line`() throws {
        let message = Array("{\"text\":[1,\n{\"id\":2}\r\n]}".utf8)
        let frames = Array("{\"first\":\n1}".utf8)
        var output = FrameReader.Framing.lines.frame(frames)
        FrameReader.Framing.lines.append(message, to: &output)
        #expect(String(decoding: output, as: UTF8.self) == "{\"first\": 1}\n{\"text\":[1, {\"id\":2}  ]}\n")
        let headers = FrameReader.Framing.headers.frame(message)
        #expect(headers.suffix(message.count).elementsEqual(message))
    }

    @Test
    func `random bytes end in frames or a typed error, and never trap`() {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("{}[]\"\\:,\r\n Content-Length: 0123456789".utf8) + [0, 0x80, 0xFF]
        for _ in 0..<Scale.of(20_000) {
            let count = Int.random(in: 0..<80, using: &generator)
            var bytes = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            if Bool.random(using: &generator) { bytes.insert(UInt8(ascii: "{"), at: 0) }
            var reader = FrameReader(limit: 50)
            reader.append(bytes)
            while let frame = try? reader.next() { _ = RPCFrame(frame, depth: 8) }
        }
    }
}
