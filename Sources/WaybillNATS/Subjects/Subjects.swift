internal import WaybillRouting

/// The subjects of a cluster: which messages of NATS go where.
///
/// A realm is a prefix, so clusters of different realms on one server do not see each other. URLs and
/// patterns become subjects segment by segment: what NATS gives a meaning is percent-encoded, and what is
/// longer than a server takes in a control line is a hash. A subject therefore only narrows down what a
/// message may be about; the message itself always has the URL, and its receiver matches that again.
struct Subjects: Sendable {
    /// The most bytes of a URL's or pattern's part of a subject.
    static let limit = 512

    /// What nodes say about themselves.
    let nodes: String

    /// The publications whose URL is too long for a subject.
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

    /// What is said about nodes to one of them.
    func members(_ id: NodeID) -> String { "\(self.nodes).\(id)" }

    /// Whether a message of a subject is about nodes.
    func isAboutNodes(_ subject: String) -> Bool {
        guard subject.begins(with: self.nodes) else { return false }
        let rest = subject.utf8.span.extracting(droppingFirst: self.nodes.utf8.count)
        return rest.isEmpty || rest[0] == UInt8(ascii: ".")
    }

    /// Where it is said that a node cannot be asked, since there is none.
    func asking(_ id: NodeID, _ own: NodeID) -> String { "\(self.inboxPrefix)\(own).ask-\(id)" }

    /// The node in a subject of ``asking(_:_:)``.
    func asked(in subject: String) -> NodeID? {
        guard let tokens = subject.rest(after: self.inboxPrefix),
            let node = tokens.split(separator: ".").last?.rest(after: "ask-")
        else { return nil }
        return NodeID(String(node))
    }

    /// What is said to one node: frames about requests that it handles.
    func node(_ id: NodeID) -> String { "\(self.nodePrefix)\(id)" }

    /// The node that a subject of ``node(_:)`` is of.
    func node(in subject: String) -> NodeID? {
        subject.rest(after: self.nodePrefix).flatMap { NodeID(String($0)) }
    }

    /// Where the answers to one request of a node go.
    func inbox(_ id: NodeID, _ request: Int) -> String { self.inboxPrefix(of: id) + String(request) }

    /// What the subjects of a node's ``inbox(_:_:)`` begin with.
    func inboxPrefix(of id: NodeID) -> String { "\(self.inboxPrefix)\(id)." }

    /// All answers to a node.
    func inboxes(_ id: NodeID) -> String { self.inboxPrefix(of: id) + "*" }

    /// The node and the request in a subject of ``inbox(_:_:)``.
    func request(in subject: String) -> (node: NodeID, number: Int)? {
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

    /// The number that digits say; nil if they are none, or say one beyond `Int`.
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

    /// Requests to the routes of a pattern's shape.
    func call(_ shape: PatternShape) -> String {
        Self.subject(self.callPrefix, shape.text) ?? "\(self.callPrefix)%.\(Self.hash(shape.text))"
    }

    /// A publication, by its URL.
    func publication(_ address: Address) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(self.publicationPrefix.utf8.count + address.text.utf8.count + 16)
        bytes += self.publicationPrefix.utf8
        Self.append(token: address.scheme, to: &bytes)
        for segment in address.segments {
            bytes.append(UInt8(ascii: "."))
            Self.append(token: segment, to: &bytes)
        }
        guard bytes.count <= self.publicationPrefix.utf8.count + Self.limit else {
            return self.longPublications
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a message of a subject is a request to a route.
    func isCall(_ subject: String) -> Bool { subject.begins(with: self.callPrefix) }

    /// Whether a message of a subject is a publication.
    func isPublication(_ subject: String) -> Bool {
        subject.begins(with: self.publicationPrefix) || subject == self.longPublications
    }

    /// Subjects that together have all publications to the URLs of a pattern, and perhaps more.
    func publications(of pattern: RoutePattern) -> [String] {
        pattern.shapes.map { shape in
            var tokens = [Self.token(pattern.scheme)]
            segments: for segment in shape {
                switch segment {
                case .literal(let text): tokens.append(Self.token(text))
                case .value: tokens.append("*")
                case .rest:
                    // It has to be the last one.
                    tokens.append(">")
                    break segments
                }
            }
            return Self.subject(self.publicationPrefix, tokens.joined(separator: "."))
                ?? "\(self.publicationPrefix)>"
        } + [self.longPublications]
    }

    /// The URL that the subject of a publication or of a request says; nil if it says a pattern or a hash.
    func url(in subject: String) -> String? {
        // A text of a segment is encoded, and to compare characters takes quadratic time for some texts.
        guard subject.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let rest = subject.rest(after: self.publicationPrefix) ?? subject.rest(after: self.callPrefix)
        guard let tokens = rest?.split(separator: ".", omittingEmptySubsequences: false) else { return nil }
        let texts = tokens.compactMap { Self.text(of: $0) }
        guard texts.count == tokens.count, let scheme = texts.first, !scheme.isEmpty else { return nil }
        return "\(scheme)://\(texts.dropFirst().map(Self.segment).joined(separator: "/"))"
    }

    /// The text that a token is of; nil for what stands for more than a text.
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

    /// A text as a segment of a URL.
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

    /// A text as one token: what has a meaning in subjects is encoded, and so is what is no visible ASCII.
    ///
    /// No text becomes a lone `%`, which stands for the empty one, and for a hash.
    static func token(_ text: String) -> String {
        if Self.isPlain(text) { return text }
        var bytes: [UInt8] = []
        Self.append(token: text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends a text as ``token(_:)`` encodes it.
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

    /// Whether a text is a token as it is.
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

    /// 128 bits of FNV-1a, in hexadecimal.
    static func hash(_ text: String) -> String {
        var hash: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
        for byte in text.utf8 {
            hash ^= UInt128(byte)
            hash = hash &* 0x0000_0000_0100_0000_0000_0000_0000_013B
        }
        return String(hash, radix: 16)
    }
}

// By bytes: subjects are ASCII, and to compare characters takes many times as long.
extension String {
    func begins(with prefix: String) -> Bool { self.utf8.span.begins(with: prefix.utf8.span) }

    /// What follows a prefix; nil if the text does not begin with it.
    func rest(after prefix: String) -> Substring? {
        self.begins(with: prefix) ? self[...].rest(after: prefix) : nil
    }
}

extension Substring {
    /// What follows a prefix; nil if the text does not begin with it.
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

/// What a pattern matches, whatever it calls the values: nodes whose patterns have one shape share its work.
struct PatternShape: Sendable, Hashable {
    /// Its segments as tokens of a subject, in one text: a node keeps thousands of shapes.
    let text: String

    init(_ pattern: RoutePattern) {
        let shapes = pattern.shapes
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pattern.text.utf8.count + 16)
        Subjects.append(token: pattern.scheme, to: &bytes)
        for segment in shapes.first ?? [] {
            bytes.append(UInt8(ascii: "."))
            switch segment {
            case .literal(let text): Subjects.append(token: text, to: &bytes)
            // Encoded, as no literal can be.
            case .value(let kind):
                bytes.append(UInt8(ascii: "%"))
                Subjects.append(token: kind, to: &bytes)
            case .rest: bytes += "%%".utf8
            }
        }
        if shapes.count > 1 { bytes += ".%\(shapes.count)".utf8 }
        self.text = String(decoding: bytes, as: UTF8.self)
    }
}

/// The name that a node has for the other nodes: 96 random bits, new with each start.
struct NodeID: Sendable, Hashable, Comparable, CustomStringConvertible {
    let description: String

    static func random() -> Self {
        let high = UInt64.random(in: .min ... .max)
        let low = UInt32.random(in: .min ... .max)
        return Self(unchecked: String(high, radix: 36) + String(low, radix: 36))
    }

    /// Reads an ID of another node; nil for what can be none.
    init?(_ text: String) {
        let bytes = text.utf8.span
        guard Self.lengths.contains(bytes.count), Self.length(in: bytes) == bytes.count else { return nil }
        self.description = text
    }

    /// Takes a text that is known to be an ID.
    fileprivate init(unchecked text: String) { self.description = text }

    /// How many bytes an ID may have.
    fileprivate static var lengths: ClosedRange<Int> { 1...32 }

    /// How many bytes of an ID a text begins with.
    fileprivate static func length(in bytes: Span<UInt8>) -> Int {
        var length = 0
        while length < bytes.count, (48...57).contains(bytes[length]) || (97...122).contains(bytes[length]) {
            length += 1
        }
        return length
    }

    static func < (left: Self, right: Self) -> Bool { left.description < right.description }
}
