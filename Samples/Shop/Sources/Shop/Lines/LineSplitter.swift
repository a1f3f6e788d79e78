/// Cuts the bytes of a stream into lines, however they arrive, and holds no more than one line of them.
struct LineSplitter {
    /// The text between two ends of line.
    enum Line: Equatable {
        case text(String)
        /// The bytes are not UTF-8.
        case garbled
        /// More bytes than the limit; how many there were. They have been skipped.
        case tooLong(Int)
    }

    /// The most bytes of a line.
    let limit: Int
    private var buffer: [UInt8] = []
    private var start = 0

    /// Where the search for the end of the line goes on.
    private var searched = 0

    /// How much of a line that is too long has been thrown away.
    private var skipped = 0

    init(limit: Int = 64 * 1_024) { self.limit = limit }

    /// Appends received bytes.
    ///
    /// Read all complete lines before the next call.
    mutating func append(_ bytes: some Sequence<UInt8>) {
        self.buffer.removeFirst(self.start)
        self.searched -= self.start
        self.start = 0
        self.buffer.append(contentsOf: bytes)
    }

    /// The next line that has arrived in whole.
    mutating func next() -> Line? {
        guard let end = self.buffer[self.searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            if self.skipped > 0 || self.buffer.count - self.start > self.limit {
                self.skipped += self.buffer.count - self.start
                self.start = self.buffer.count
            }
            self.searched = self.buffer.count
            return nil
        }
        defer { (self.start, self.searched) = (end + 1, end + 1) }
        return self.line(self.buffer[self.start..<end])
    }

    /// The last line, if the stream does not end with an end of line.
    mutating func finish() -> Line? {
        defer { (self.start, self.searched) = (self.buffer.count, self.buffer.count) }
        let rest = self.buffer[self.start...]
        return rest.isEmpty && self.skipped == 0 ? nil : self.line(rest)
    }

    private mutating func line(_ bytes: ArraySlice<UInt8>) -> Line {
        let length = self.skipped + bytes.count
        guard length <= self.limit else {
            self.skipped = 0
            return .tooLong(length)
        }
        let isCarriageReturn = bytes.last == UInt8(ascii: "\r")
        let text = String(validating: isCarriageReturn ? bytes.dropLast() : bytes, as: UTF8.self)
        return text.map { .text($0) } ?? .garbled
    }
}
