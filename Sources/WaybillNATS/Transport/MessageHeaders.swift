/// The headers of a received message.
///
/// A received message contains its headers as a block of lines. A node reads the block itself. libnats would
/// need quadratic time for many lines with the same name, and would free their values recursively. Only if
/// libnats stores its messages in an unknown way, libnats reads the headers.
struct MessageHeaders {
    /// The code in the first line, with which the server reports a problem; empty for other messages.
    let status: String
    /// The headers in their order, with only the first value of a header that occurs several times.
    private(set) var list: [(name: String, value: String)] = []

    /// The status of the report that a subject has no subscriber.
    static let noResponders = "503"

    /// The maximum number of headers in a message.
    ///
    /// A message with more headers is handled as a message without headers.
    static let limit = 1024

    private static let version = "NATS/1.0".utf8

    init(status: String, list: [(name: String, value: String)]) {
        self.status = status
        self.list = list
    }

    /// Reads a block, or returns nil when the block is invalid or has too many lines.
    init?(_ block: [UInt8]) {
        // Most messages have no headers.
        guard block.starts(with: Self.version) else { return nil }
        // Do not split the lines above the limit. They remain one line, which is not the empty last line.
        let lines = block.split(maxSplits: Self.limit + 1, omittingEmptySubsequences: false) {
            $0 == UInt8(ascii: "\n")
        }
        let status = lines[0].dropFirst(Self.version.count).trimmed.prefix(Self.noResponders.utf8.count)
        self.status = String(decoding: status, as: UTF8.self)
        var names: Set<ArraySlice<UInt8>> = []
        for line in lines.dropFirst() {
            if line.trimmed.isEmpty { return }
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            guard !name.isEmpty, name.endIndex < line.endIndex else { return nil }
            guard names.insert(name).inserted else { continue }
            let value = line[name.endIndex...].dropFirst().trimmed
            self.list.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
        }
        return nil
    }
}

extension ArraySlice<UInt8> {
    /// The bytes without the white space at both ends.
    fileprivate var trimmed: Self {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let start = self.firstIndex(where: { !isSpace($0) }),
            let end = self.lastIndex(where: { !isSpace($0) })
        else { return [] }
        return self[start...end]
    }
}
