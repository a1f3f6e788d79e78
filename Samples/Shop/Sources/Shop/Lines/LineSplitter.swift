/// Cuts the bytes of a stream into lines, however the bytes are split, and keeps at most one incomplete line.
struct LineSplitter {
    /// The text between two ends of line.
    enum Line: Equatable {
        case text(String)
        /// The bytes are not UTF-8.
        case garbled
        /// A line with more bytes than the limit. The bytes were skipped, and this is their number.
        case tooLong(Int)
    }

    /// The maximum number of bytes in a line.
    let limit: Int
    private var buffer: [UInt8] = []
    private var start = 0

    /// The position at which the search for the end of the line continues.
    private var searched = 0

    /// The number of skipped bytes of a line that is too long.
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

    /// Returns the next complete line.
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

    /// Returns the last line, if the stream does not end with an end of line.
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
