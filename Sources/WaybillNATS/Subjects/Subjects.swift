internal import WaybillRouting

/// The NATS subjects of a cluster.
///
/// All subjects of a realm have the same prefix, so nodes of different realms on one server do not receive
/// each other's messages. The segments of a URL or pattern become the tokens of a subject. Characters with a
/// meaning in NATS are percent-encoded. A text that is too long for a subject becomes a hash. The subject is
/// therefore only a coarse filter: each message contains its URL, and the receiver matches this URL again.
struct Subjects: Sendable {
    /// The maximum number of bytes that a URL or pattern may have in a subject.
    static let limit = 512

    /// The subject of announcements to all nodes.
    let nodes: String

    /// The subject of publications whose URL is too long for a subject.
    let longPublications: String

    private let inboxPrefix: String
    private let nodePrefix: String
    private let callPrefix: String
    private let publicationPrefix: String

    init(realm: String) {
        let prefix = "waybill.\(Self.token(realm))"
        self.nodes = "\(prefix).nodes"
        self.longPublications = "\(prefix).long"
        self.inboxPrefix = "\(prefix).inbox."
        self.nodePrefix = "\(prefix).node."
        self.callPrefix = "\(prefix).call."
        self.publicationPrefix = "\(prefix).pub."
    }

    /// Returns the subject of announcements to one node.
    func members(_ id: NodeID) -> String { "\(self.nodes).\(id)" }

    /// Returns whether the messages of a subject are announcements.
    func isAboutNodes(_ subject: String) -> Bool {
        guard subject.begins(with: self.nodes) else { return false }
        let rest = subject.utf8.span.extracting(droppingFirst: self.nodes.utf8.count)
        return rest.isEmpty || rest[0] == UInt8(ascii: ".")
    }

    /// Returns the reply subject to which the server reports that the receiver of an announcement is missing.
    func asking(_ id: NodeID, _ own: NodeID) -> String { "\(self.inboxPrefix)\(own).ask-\(id)" }

    /// Returns the receiver in a subject that ``asking(_:_:)`` has created.
    func asked(in subject: String) -> NodeID? {
        guard let tokens = subject.rest(after: self.inboxPrefix),
            let node = tokens.split(separator: ".").last?.rest(after: "ask-")
        else { return nil }
        return NodeID(String(node))
    }

    /// Returns the subject of messages to one node about the requests that the node handles.
    func node(_ id: NodeID) -> String { "\(self.nodePrefix)\(id)" }

    /// Returns the node in a subject that ``node(_:)`` has created.
    func node(in subject: String) -> NodeID? {
        subject.rest(after: self.nodePrefix).flatMap { NodeID(String($0)) }
    }

    /// Returns the subject for the answers to one request of a node.
    func inbox(_ id: NodeID, _ request: Int) -> String { self.inboxPrefix(of: id) + String(request) }

    /// Returns the prefix of a node's ``inbox(_:_:)`` subjects.
    func inboxPrefix(of id: NodeID) -> String { "\(self.inboxPrefix)\(id)." }

    /// Returns a wildcard subject for the answers to all requests of a node.
    func inboxes(_ id: NodeID) -> String { self.inboxPrefix(of: id) + "*" }

    /// Returns the node and the request number in a subject that ``inbox(_:_:)`` has created.
    func request(ofInbox subject: String) -> (node: NodeID, number: Int)? {
        guard subject.begins(with: self.inboxPrefix) else { return nil }
        let bytes = subject.utf8.span.extracting(droppingFirst: self.inboxPrefix.utf8.count)
        let length = NodeID.length(in: bytes)
        guard NodeID.lengths.contains(length), length < bytes.count, bytes[length] == UInt8(ascii: "."),
            let number = Self.number(bytes.extracting(droppingFirst: length + 1))
        else { return nil }
        let start = subject.utf8.index(subject.startIndex, offsetBy: self.inboxPrefix.utf8.count)
        let id = subject[start..<subject.utf8.index(start, offsetBy: length)]
        return (NodeID(unchecked: String(id)), number)
    }

    /// Returns the number that a text represents, or nil when a byte is not a digit or the number exceeds
    /// `Int`.
    private static func number(_ digits: Span<UInt8>) -> Int? {
        var number = 0
        for index in digits.indices {
            guard (48...57).contains(digits[index]) else { return nil }
            let (product, overflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) = product.addingReportingOverflow(Int(digits[index] - 48))
            if overflows || overflowsToo { return nil }
            number = sum
        }
        return digits.isEmpty ? nil : number
    }

    /// Returns the subject of requests to the routes whose patterns have a shape.
    func call(_ shape: PatternShape) -> String {
        Self.subject(self.callPrefix, shape.text) ?? "\(self.callPrefix)%.\(Self.hash(shape.text))"
    }

    /// Returns the subject of publications to a URL.
    ///
    /// The subject is in lower case if the conventions ignore the case of segments.
    func publication(_ address: Address) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(self.publicationPrefix.utf8.count + address.text.utf8.count + 16)
        bytes += self.publicationPrefix.utf8
        Self.append(token: address.scheme, to: &bytes)
        for segment in address.segments {
            bytes.append(UInt8(ascii: "."))
            let text = address.ignoresCase ? segment.inLowercaseASCII : segment
            Self.append(token: text, to: &bytes)
        }
        guard bytes.count <= self.publicationPrefix.utf8.count + Self.limit else {
            return self.longPublications
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns whether the messages of a subject are requests to routes.
    func isCall(_ subject: String) -> Bool { subject.begins(with: self.callPrefix) }

    /// Returns whether the messages of a subject are publications.
    func isPublication(_ subject: String) -> Bool {
        subject.begins(with: self.publicationPrefix) || subject == self.longPublications
    }

    /// Returns subjects that together include all publications to the URLs of a pattern, and possibly more.
    func publications(of pattern: RoutePattern) -> [String] {
        pattern.shapes.map { shape in
            var tokens = [Self.token(pattern.scheme)]
            segments: for segment in shape {
                switch segment {
                case .literal(let text):
                    tokens.append(Self.token(pattern.ignoresCase ? text.inLowercaseASCII : text))
                case .value: tokens.append("*")
                case .rest:
                    // `>` must be the last token of a subject.
                    tokens.append(">")
                    break segments
                }
            }
            return Self.subject(self.publicationPrefix, tokens.joined(separator: "."))
                ?? "\(self.publicationPrefix)>"
        } + [self.longPublications]
    }

    /// Returns the URL in the subject of a publication or a request, or nil when the subject contains a
    /// pattern or a hash.
    func url(in subject: String) -> String? {
        // A valid subject is ASCII. In other texts, comparing the characters can take quadratic time.
        guard subject.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let rest = subject.rest(after: self.publicationPrefix) ?? subject.rest(after: self.callPrefix)
        guard let tokens = rest?.split(separator: ".", omittingEmptySubsequences: false) else { return nil }
        let texts = tokens.compactMap { Self.text(of: $0) }
        guard texts.count == tokens.count, let scheme = texts.first, !scheme.isEmpty else { return nil }
        return "\(scheme)://\(texts.dropFirst().map(Self.segment).joined(separator: "/"))"
    }

    /// Returns the text that a token encodes, or nil when the token is not the encoding of a text.
    private static func text(of token: Substring) -> String? {
        if token == "%" { return "" }
        var bytes: [UInt8] = []
        var rest = token.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(rest.prefix(2)) ?? "", radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Returns a text as a percent-encoded segment of a URL.
    private static func segment(_ text: String) -> String {
        let plain = Set("-._~!$&'()*+,;=:@".utf8)
        return text.utf8.map { byte in
            let isPlain =
                plain.contains(byte) || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x61...0x7A).contains(byte)
            let digits = String(byte, radix: 16, uppercase: true)
            return isPlain
                ? String(UnicodeScalar(byte)) : digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
        }.joined()
    }

    private static func subject(_ prefix: String, _ text: String) -> String? {
        text.utf8.count <= Self.limit ? prefix + text : nil
    }

    /// Returns a text as one token.
    ///
    /// Every byte that has a meaning in subjects, or is not visible ASCII, is percent-encoded. Only the empty
    /// text becomes a single `%`. In the subject of a request, a single `%` also precedes a hash.
    static func token(_ text: String) -> String {
        if Self.isPlain(text) { return text }
        var bytes: [UInt8] = []
        Self.append(token: text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends a text in the encoding of ``token(_:)``.
    static func append(token text: String, to bytes: inout [UInt8]) {
        if Self.isPlain(text) { return bytes.append(contentsOf: text.utf8) }
        if text.isEmpty { bytes.append(UInt8(ascii: "%")) }
        for byte in text.utf8 {
            if Self.isPlain(byte) {
                bytes.append(byte)
            } else {
                let digits = String(byte, radix: 16, uppercase: true).utf8
                bytes.append(UInt8(ascii: "%"))
                if digits.count == 1 { bytes.append(UInt8(ascii: "0")) }
                bytes += digits
            }
        }
    }

    /// Returns whether a text is already a token, so that it needs no encoding.
    private static func isPlain(_ text: String) -> Bool {
        let bytes = text.utf8.span
        for index in bytes.indices where !Self.isPlain(bytes[index]) { return false }
        return !bytes.isEmpty
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "*"), UInt8(ascii: ">"), UInt8(ascii: "%"): false
        case 0x21...0x7E: true
        default: false
        }
    }

    /// Returns the 128-bit FNV-1a hash of a text, in hexadecimal.
    static func hash(_ text: String) -> String {
        var hash: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
        for byte in text.utf8 {
            hash ^= UInt128(byte)
            hash = hash &* 0x0000_0000_0100_0000_0000_0000_0000_013B
        }
        return String(hash, radix: 16)
    }
}

// Comparisons of bytes. Subjects are ASCII, and comparing characters takes many times as long.
extension String {
    fileprivate var inLowercaseASCII: String {
        String(decoding: self.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    func begins(with prefix: String) -> Bool { self.utf8.span.begins(with: prefix.utf8.span) }

    /// Returns the text after a prefix, or nil when the text does not begin with the prefix.
    func rest(after prefix: String) -> Substring? {
        self.begins(with: prefix) ? self[...].rest(after: prefix) : nil
    }
}

extension Substring {
    /// Returns the text after a prefix, or nil when the text does not begin with the prefix.
    func rest(after prefix: String) -> Substring? {
        guard self.utf8.span.begins(with: prefix.utf8.span) else { return nil }
        return self[self.utf8.index(self.startIndex, offsetBy: prefix.utf8.count)...]
    }
}

extension Span<UInt8> {
    fileprivate func begins(with prefix: Self) -> Bool {
        guard self.count >= prefix.count else { return false }
        for index in prefix.indices where self[index] != prefix[index] { return false }
        return true
    }
}

/// The segments of a pattern without the names of their values.
///
/// If the patterns of several nodes have the same shape, these nodes share the messages for the shape.
struct PatternShape: Sendable, Hashable {
    /// The segments as tokens of a subject, in one text to save memory, because a node stores thousands of
    /// shapes.
    let text: String

    init(_ pattern: RoutePattern) {
        let shapes = pattern.shapes
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pattern.text.utf8.count + 16)
        Subjects.append(token: pattern.scheme, to: &bytes)
        for (index, shape) in shapes.enumerated() {
            // A pattern with optional groups has several shapes, and patterns can have the same longest shape.
            if index > 0 { bytes += ".%\(shapes.count)".utf8 }
            for segment in shape {
                bytes.append(UInt8(ascii: "."))
                Self.append(segment, to: &bytes)
            }
        }
        self.text = String(decoding: bytes, as: UTF8.self)
    }

    private static func append(_ segment: SegmentShape, to bytes: inout [UInt8]) {
        switch segment {
        case .literal(let text): Subjects.append(token: text, to: &bytes)
        // A `%` before the kind marks a value.
        case .value(let kind):
            bytes.append(UInt8(ascii: "%"))
            Subjects.append(token: kind, to: &bytes)
        case .rest: bytes += "%%".utf8
        }
    }
}

/// The ID of a node, which consists of 96 random bits and is different at each start of the node.
struct NodeID: Sendable, Hashable, Comparable, CustomStringConvertible {
    let description: String

    static func random() -> Self {
        let high = UInt64.random(in: .min ... .max)
        let low = UInt32.random(in: .min ... .max)
        return Self(unchecked: String(high, radix: 36) + String(low, radix: 36))
    }

    /// Creates the ID of another node, or returns nil when the text is not a valid ID.
    init?(_ text: String) {
        let bytes = text.utf8.span
        guard Self.lengths.contains(bytes.count), Self.length(in: bytes) == bytes.count else { return nil }
        self.description = text
    }

    /// Creates an ID from a text that the caller has validated.
    fileprivate init(unchecked text: String) { self.description = text }

    /// The lengths of a valid ID, in bytes.
    fileprivate static var lengths: ClosedRange<Int> { 1...32 }

    /// Returns the number of bytes at the beginning that are valid in an ID.
    fileprivate static func length(in bytes: Span<UInt8>) -> Int {
        var length = 0
        while length < bytes.count, (48...57).contains(bytes[length]) || (97...122).contains(bytes[length]) {
            length += 1
        }
        return length
    }

    static func < (left: Self, right: Self) -> Bool { left.description < right.description }
}
