internal import WaybillJSON
internal import WaybillRouting

/// What a node says about itself to the others.
///
/// Its epoch counts the changes of what it shares: a change tells what is different from the epoch before,
/// and a node that has missed one asks for the whole state.
struct Announcement: Sendable, Equatable {
    enum Kind: String, Sendable {
        /// It has joined, and wants the state of the others.
        case hello
        /// All that it shares.
        case state
        /// What is different since the epoch before.
        case change
        /// It lives.
        case beat
        /// It wants the state of the node that this is sent to.
        case ask
        /// It leaves.
        case bye
    }

    var kind: Kind
    let node: NodeID
    var name = ""
    var epoch = 0
    /// How often it says that it lives, in milliseconds.
    var interval = 1000
    /// Patterns of routes.
    var routes: [String] = []
    /// Patterns of publications that it takes.
    var topics: [String] = []
    /// Patterns of routes that it shares no more.
    var removedRoutes: [String] = []
    var removedTopics: [String] = []

    init(_ kind: Kind, of node: NodeID) {
        self.kind = kind
        self.node = node
    }

    /// How long an interval may be: a node must not be able to say that it lives for ever.
    static let longestInterval = 60_000

    /// The last epoch that is believed: there is a next one.
    private static let lastEpoch = 1 << 53

    /// The most bytes of one that is read, and the most patterns in it.
    static let limit = 8 << 20
    static let patternLimit = 100_000

    /// The most bytes of a node's name.
    static let nameLimit = 1024

    /// Reads one; nil for what is none.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.limit, let text = try? JSONText(bytes).validated(depthLimit: 4),
            let members = text.members
        else { return nil }
        let values = Dictionary(members.map { ($0.name, $0.value) }) { _, last in last }
        guard let kind = values["kind"]?.string.flatMap({ Kind(rawValue: $0) }),
            let node = values["node"]?.string.flatMap({ NodeID($0) }),
            let epoch = values["epoch"]?.int, (0...Self.lastEpoch).contains(epoch)
        else { return nil }
        self.init(kind, of: node)
        self.epoch = epoch
        if let interval = values["interval"]?.int {
            self.interval = min(max(interval, 1), Self.longestInterval)
        }
        if let name = values["name"]?.string {
            guard name.utf8.count <= Self.nameLimit, CombiningMarks.areFew(in: name) else { return nil }
            self.name = name
        }
        for (name, list) in [
            ("routes", \Self.routes), ("topics", \Self.topics), ("removedRoutes", \Self.removedRoutes),
            ("removedTopics", \Self.removedTopics),
        ] {
            guard let value = values[name] else { continue }
            guard let elements = value.elements, elements.count <= Self.patternLimit else { return nil }
            let texts = elements.compactMap(\.string)
            guard texts.count == elements.count, texts.allSatisfy({ CombiningMarks.areFew(in: $0) }) else {
                return nil
            }
            self[keyPath: list] = texts
        }
    }

    /// How many bytes its patterns have.
    var patternBytes: Int { (self.routes + self.topics).reduce(0) { $0 + $1.utf8.count } }

    var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.raw("{")
        writer.name("kind", isFirst: true)
        writer.string(self.kind.rawValue)
        writer.name("node")
        writer.string(self.node.description)
        writer.name("name")
        writer.string(self.name)
        writer.name("epoch")
        writer.raw(String(self.epoch))
        writer.name("interval")
        writer.raw(String(self.interval))
        for (name, texts) in [
            ("routes", self.routes), ("topics", self.topics), ("removedRoutes", self.removedRoutes),
            ("removedTopics", self.removedTopics),
        ] where !texts.isEmpty {
            writer.name(name)
            writer.raw("[")
            for (index, text) in texts.enumerated() {
                if index > 0 { writer.raw(",") }
                writer.string(text)
            }
            writer.raw("]")
        }
        writer.raw("}")
        return writer.bytes
    }
}
