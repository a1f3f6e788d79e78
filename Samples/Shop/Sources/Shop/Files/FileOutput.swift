internal import Glibc

/// A file descriptor to write to, behind a buffer.
struct FileOutput {
    /// The number of bytes that are collected before they are written.
    private static let chunk = 64 * 1_024

    /// Whether the descriptor is a terminal.
    let isTerminal: Bool
    private let descriptor: Int32

    /// The bytes that wait to be written.
    var bytes: [UInt8] = []

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        self.isTerminal = isatty(descriptor) == 1
    }

    /// Writes the collected bytes if there are many of them, or if the descriptor is a terminal.
    mutating func flushIfNeeded() throws(FileError) {
        if self.isTerminal || self.bytes.count >= Self.chunk { try self.flush() }
    }

    /// Writes the collected bytes.
    mutating func flush() throws(FileError) {
        guard !self.bytes.isEmpty else { return }
        defer { self.bytes.removeAll(keepingCapacity: true) }
        var written = 0
        while written < self.bytes.count {
            let count = unsafe self.bytes.withUnsafeBytes { bytes in
                unsafe write(self.descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
            }
            if count >= 0 { written += count } else if errno != EINTR { throw .last }
        }
    }
}
