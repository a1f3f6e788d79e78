internal import WaybillJSON
internal import WaybillRouting

/// A message in which a node describes itself to the other nodes.
///
/// The epoch is the number of changes of the routes and topics that the node shares. A `change` contains the
/// differences from the previous epoch. A node that has missed a change asks for the whole state.
struct Announcement: Sendable, Equatable {
    enum Kind: String, Sendable {
        /// The node has joined or has dropped its requests, and asks the other nodes for their state.
        case hello
        /// The whole state: every route and topic that the node shares.
        case state
        /// The differences from the previous epoch.
        case change
        /// A heartbeat.
        case beat
        /// A request for the state of the receiving node.
        case ask
        /// The node leaves.
        case bye
    }

    var kind: Kind
    let node: NodeID
    var name = ""
    var epoch = 0
    /// The heartbeat interval, in milliseconds.
    var interval = 1000
    /// The patterns of the shared routes.
    var routes: [String] = []
    /// The patterns of the publications that the node receives.
    var topics: [String] = []
    /// The patterns of routes that the node no longer shares.
    var removedRoutes: [String] = []
    var removedTopics: [String] = []
    /// Whether a `hello` does not contain the patterns, because the server would not accept its size.
    var omitsPatterns = false

    init(_ kind: Kind, of node: NodeID) {
        self.kind = kind
        self.node = node
    }

    /// The longest interval, in milliseconds.
    ///
    /// A longer interval is shortened, so that a silent node does not count as alive for ever.
    static let longestInterval = 60_000

    /// The highest epoch that a node accepts, so that the node's own later epochs still fit in an integer.
    private static let lastEpoch = 1 << 53

    /// The maximum number of bytes of an announcement; a longer announcement is ignored.
    static let limit = 8 << 20
    static let patternLimit = 100_000

    /// The maximum number of bytes in the name of a node.
    static let nameLimit = 1024

    /// Creates an announcement from its JSON text, or returns nil when the text is invalid.
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
            // The name is printed in logs and errors.
            self.name = SafeText.line(name)
        }
        self.omitsPatterns = values["omitsPatterns"]?.bool ?? false
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

    /// The total number of bytes in the patterns of the announcement.
    var patternBytes: Int { (self.routes + self.topics).reduce(0) { $0 + $1.utf8.count } }

    /// The announcement without its patterns.
    var withoutPatterns: Self {
        var short = self
        (short.routes, short.topics, short.omitsPatterns) = ([], [], true)
        return short
    }

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
        if self.omitsPatterns {
            writer.name("omitsPatterns")
            writer.raw("true")
        }
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

/// The routes and topics that a node has announced.
struct ClusterOffer {
    var epoch = 0
    var routes: Set<String> = []
    var topics: Set<String> = []
    /// The NATS subjects of these routes and topics.
    var subjects: Set<String> = []
}
