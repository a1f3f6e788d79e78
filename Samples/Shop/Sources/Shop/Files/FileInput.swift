internal import Glibc

/// A file descriptor to read from, a chunk at a time.
struct FileInput {
    /// Whether the descriptor is a terminal.
    let isTerminal: Bool
    private let descriptor: Int32
    private var buffer: [UInt8]

    init(_ descriptor: Int32, chunk: Int = 256 * 1_024) {
        self.descriptor = descriptor
        self.isTerminal = isatty(descriptor) == 1
        self.buffer = Array(repeating: 0, count: chunk)
    }

    /// Returns the available bytes, or waits for some.
    ///
    /// Returns nil at the end.
    mutating func read() throws(FileError) -> ArraySlice<UInt8>? {
        while true {
            let count = unsafe self.buffer.withUnsafeMutableBytes { bytes in
                unsafe Glibc.read(self.descriptor, bytes.baseAddress, bytes.count)
            }
            if count >= 0 { return count == 0 ? nil : self.buffer[..<count] }
            if errno != EINTR { throw .last }
        }
    }
}
