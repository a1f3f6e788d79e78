internal import WaybillJSON

/// Splits a stream of bytes into the frames of JSON-RPC messages.
///
/// This type is a value that performs no I/O. The first byte that is not white space determines the framing.
/// After `{` or `[`, each message is one line. After `C`, each message has a header with `Content-Length`, as
/// in the protocol of language servers. The peer must keep its framing, and the answers have the same
/// framing. Any other byte, such as the first byte of an HTTP request, causes ``FrameError/notRPC``, because
/// the bytes of another protocol must not be searched for messages.
struct FrameReader: Sendable {
    /// The format that separates the messages of a peer.
    enum Framing: Sendable {
        case lines, headers
    }

    /// The framing of the peer; nil until its first byte has arrived.
    private(set) var framing: Framing?

    /// The maximum size of a frame, in bytes.
    var limit: Int
    /// The received bytes; the bytes before ``start`` have been read.
    private var bytes: [UInt8] = []
    private var start = 0
    /// The index up to which the bytes have been searched for the end of a line.
    private var searched = 0
    /// The length of the next body; nil until its header has been read.
    private var bodyLength: Int?

    /// The time at which the last bytes arrived, in nanoseconds of the caller's clock.
    private(set) var lastReceived: Int64
    /// The time that the reader has waited for the end of a partial frame, in nanoseconds.
    private var waited: Int64 = 0

    /// The maximum size of a header, in bytes.
    static let headerLimit = 4096

    /// Creates a reader, which detects the framing from the first byte if `framing` is nil.
    ///
    /// The time is in nanoseconds.
    init(limit: Int, framing: Framing? = nil, at time: Int64 = 0) {
        self.limit = limit
        self.framing = framing
        self.lastReceived = time
    }

    /// Whether only a part of a frame has arrived.
    var isInsideFrame: Bool { self.start < self.bytes.count || self.bodyLength != nil }

    /// The number of bytes of the next frame that have arrived.
    var partialSize: Int { self.bytes.count - self.start }

    /// The time that the reader has waited for the end of a partial frame, in nanoseconds; nil if no frame is
    /// partial.
    ///
    /// The time in which the reader's owner did not read does not count. More bytes of the same frame do not
    /// reset the time.
    var partialFrameWait: Int64? { self.isInsideFrame ? self.waited : nil }

    /// Appends received bytes.
    ///
    /// The times are in nanoseconds, and `wait` is the time that the owner waited for the bytes.
    mutating func append(_ received: [UInt8], at time: Int64 = 0, after wait: Int64 = 0) {
        self.waited = self.isInsideFrame ? self.waited + wait : 0
        self.lastReceived = time
        if self.start == self.bytes.count {
            self.bytes = received
        } else {
            self.bytes.removeFirst(self.start)
            self.bytes += received
        }
        self.searched -= self.start
        self.start = 0
        if self.searched < 0 || self.bytes.count == received.count { self.searched = 0 }
    }

    /// Returns the next frame; nil until more bytes arrive.
    ///
    /// - Throws: The reason that no more frames can be separated. The caller must close the connection.
    mutating func next() throws(FrameError) -> JSONText? {
        // While the owner handles small frames and does not read, the bytes before them must not stay in
        // memory.
        if self.start * 2 >= self.bytes.count { self.dropReadBytes() }
        let frame: JSONText?
        if try self.findBeginning() {
            frame = self.framing == .headers ? try self.nextBody() : try self.nextLine()
        } else {
            frame = nil
        }
        if frame == nil { self.dropReadBytes() }
        return frame
    }

    /// Releases the memory of the bytes that have been read, if there are many.
    ///
    /// Otherwise one byte of the next frame would keep the memory of all frames before it, and the limits on
    /// memory would not count these frames.
    private mutating func dropReadBytes() {
        guard self.start > Self.headerLimit else { return }
        self.bytes = Array(self.bytes[self.start...])
        self.searched = max(0, self.searched - self.start)
        self.start = 0
    }

    /// Skips white space between frames, detects the framing, and returns whether a byte follows.
    private mutating func findBeginning() throws(FrameError) -> Bool {
        guard self.bodyLength == nil else { return true }
        while self.start < self.bytes.count, Self.isSpace(self.bytes[self.start]) { self.start += 1 }
        guard self.start < self.bytes.count else { return false }
        if self.framing == nil {
            switch self.bytes[self.start] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): self.framing = .lines
            case UInt8(ascii: "C"), UInt8(ascii: "c"): self.framing = .headers
            default: throw .notRPC
            }
        }
        return true
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") || byte == UInt8(ascii: " ")
            || byte == UInt8(ascii: "\t")
    }

    private mutating func nextLine() throws(FrameError) -> JSONText? {
        guard let end = self.endOfLine(after: max(self.start, self.searched)) else {
            self.searched = self.bytes.count
            if self.bytes.count - self.start > self.limit { throw .tooLarge(limit: self.limit) }
            return nil
        }
        return try self.take(until: end)
    }

    private mutating func nextBody() throws(FrameError) -> JSONText? {
        if self.bodyLength == nil {
            guard let length = try self.nextHeader() else { return nil }
            if length > self.limit { throw .tooLarge(limit: self.limit) }
            self.bodyLength = length
        }
        guard let length = self.bodyLength, self.bytes.count - self.start >= length else { return nil }
        self.bodyLength = nil
        return try self.take(until: self.start + length)
    }

    private mutating func take(until end: Int) throws(FrameError) -> JSONText {
        if end - self.start > self.limit { throw .tooLarge(limit: self.limit) }
        let isMostOfArray = self.bytes.count - (end - self.start) <= Self.headerLimit
        // A small frame in a large array is copied. Otherwise a message that waits would keep the memory of
        // the whole array.
        let frame =
            isMostOfArray
            ? JSONText(bytes: self.bytes, range: self.start..<end)
            : JSONText(Array(self.bytes[self.start..<end]))
        self.start = end
        self.searched = end
        // The bytes after the frame belong to the next frame, whose wait begins now.
        self.waited = 0
        // If no bytes follow, leave the array to this frame. The next bytes then have a new array, and this
        // array is not copied.
        if self.start == self.bytes.count {
            self.bytes = []
            self.start = 0
            self.searched = 0
        }
        return frame
    }

    /// Reads a header up to the empty line, and returns the value of `Content-Length`.
    ///
    /// The result is nil until the whole header has arrived.
    private mutating func nextHeader() throws(FrameError) -> Int? {
        var length: Int?
        var position = self.start
        while let end = self.endOfLine(after: position) {
            if end - self.start > Self.headerLimit { throw .malformedHeader }
            let line =
                self.bytes[position..<end].last == UInt8(ascii: "\r") ? position..<end - 1 : position..<end
            position = end + 1
            if line.isEmpty {
                guard let length else { throw .malformedHeader }
                self.start = position
                self.searched = position
                return length
            }
            if let value = try Self.contentLength(self.bytes[line]) {
                guard length == nil else { throw .malformedHeader }
                length = value
            }
        }
        if self.bytes.count - self.start > Self.headerLimit { throw .malformedHeader }
        return nil
    }

    /// Returns the value of a `Content-Length` line; nil for other fields, such as `Content-Type`.
    private static func contentLength(_ line: ArraySlice<UInt8>) throws(FrameError) -> Int? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .malformedHeader }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        guard name.lowercased() == "content-length" else { return nil }
        let digits = line[(colon + 1)...].filter { !Self.isSpace($0) }
        guard !digits.isEmpty, digits.count < 16, digits.allSatisfy({ (48...57).contains($0) }) else {
            throw .malformedHeader
        }
        return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    }

    private func endOfLine(after position: Int) -> Int? {
        self.bytes[position...].firstIndex(of: UInt8(ascii: "\n"))
    }
}

/// The reason that no more frames can be separated in the bytes of a peer.
enum FrameError: Error, Hashable {
    /// The first byte begins neither a message nor a header.
    case notRPC
    /// A header has no usable `Content-Length`, or does not end.
    case malformedHeader
    /// A frame is longer than the limit, in bytes.
    case tooLarge(limit: Int)
    /// The messages of all connections together have reached the limit of the server, in bytes.
    case noRoom(limit: Int)

    /// A description of the error for the peer.
    var message: String {
        switch self {
        case .notRPC: "the connection begins with neither JSON nor a Content-Length header"
        case .malformedHeader: "the header has no usable Content-Length"
        case .tooLarge(let limit): "the message is longer than \(limit) bytes"
        case .noRoom(let limit): "all connections have reached the limit of \(limit) bytes: try again later"
        }
    }
}

extension FrameReader.Framing {
    /// Returns a message as a frame.
    func frame(_ body: [UInt8]) -> [UInt8] {
        var frame: [UInt8] = []
        frame.reserveCapacity(body.count + 24)
        self.append(body, to: &frame)
        return frame
    }

    /// Appends a message as a frame.
    func append(_ body: [UInt8], to output: inout [UInt8]) {
        switch self {
        case .lines:
            if output.isEmpty { output.reserveCapacity(body.count + 1) }
            output += JSONLine.joined(body[...])
            output.append(UInt8(ascii: "\n"))
        case .headers:
            output += "Content-Length: \(body.count)\r\n\r\n".utf8
            output += body
        }
    }
}
