internal import FoundationEssentials
internal import WaybillJSON

/// The description of a node as a service of the NATS services API (ADR-32).
///
/// The endpoints of the service are the routes that the node shares. The `nats` command and dashboards find
/// the service by requests to subjects that begin with `$SRV`.
struct ServiceDescription: Sendable {
    /// The requests of the services API.
    enum Verb: String, CaseIterable, Sendable {
        case ping = "PING"
        case info = "INFO"
        case stats = "STATS"
    }

    /// A shared route.
    struct Endpoint: Sendable {
        let pattern: String
        let subject: String
    }

    /// The queue group, in which the server delivers each request to a single node.
    static let queue = "waybill"
    private static let prefix = "$SRV"

    /// The name of the service, which may be the same for several nodes.
    let name: String
    let id: NodeID
    let version: String
    let realm: String
    /// The time at which the node was created, in the format of RFC 3339.
    let started: String

    init(_ configuration: ClusterNode.Configuration, id: NodeID, realm: String) {
        self.name = Self.name(configuration.name)
        self.id = id
        self.version = configuration.version
        self.realm = realm
        self.started = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// The subjects of requests to all services, to the services with this name, and to this node.
    var subjects: [String] {
        Verb.allCases.flatMap { verb in
            let all = "\(Self.prefix).\(verb.rawValue)"
            return [all, "\(all).\(self.name)", "\(all).\(self.name).\(self.id)"]
        }
    }

    /// Returns the kind of request that a subject represents, or nil when the subject is not part of the
    /// services API.
    static func verb(in subject: String) -> Verb? {
        guard let rest = subject.rest(after: Self.prefix), rest.first == "." else { return nil }
        return Verb(rawValue: String(rest.dropFirst().prefix { $0 != "." }))
    }

    /// Returns a text with each byte that is not an ASCII letter, digit or `-` replaced by `_`.
    static func name(_ text: String) -> String {
        let name = text.utf8.map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                byte
            default: UInt8(ascii: "_")
            }
        }
        return name.isEmpty ? "_" : String(decoding: name, as: UTF8.self)
    }
}

// The answers to requests of the services API of NATS.
extension ServiceDescription {
    func response(
        to verb: Verb,
        _ endpoints: [Endpoint],
        _ counts: [String: EndpointTally.Counts]
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.raw("{")
        writer.name("type", isFirst: true)
        writer.string("io.nats.micro.v1.\(verb.rawValue.lowercased())_response")
        for (name, text) in [("name", self.name), ("id", self.id.description), ("version", self.version)] {
            writer.name(name)
            writer.string(text)
        }
        writer.name("metadata")
        writer.raw("{")
        writer.name("realm", isFirst: true)
        writer.string(self.realm)
        writer.raw("}")
        switch verb {
        case .ping: break
        case .info:
            writer.name("description")
            writer.string("routes of a Waybill bus")
        case .stats:
            writer.name("started")
            writer.string(self.started)
        }
        if verb != .ping {
            writer.name("endpoints")
            writer.raw("[")
            for (index, endpoint) in endpoints.enumerated() {
                writer.raw(index == 0 ? "{" : ",{")
                self.write(endpoint, verb == .stats ? counts[endpoint.subject] ?? .init() : nil, to: &writer)
                writer.raw("}")
            }
            writer.raw("]")
        }
        writer.raw("}")
        return writer.bytes
    }

    private func write(_ endpoint: Endpoint, _ counts: EndpointTally.Counts?, to writer: inout JSONWriter) {
        writer.name("name", isFirst: true)
        writer.string(Self.name(endpoint.pattern))
        for (name, text) in [("subject", endpoint.subject), ("queue_group", Self.queue)] {
            writer.name(name)
            writer.string(text)
        }
        guard let counts else {
            writer.name("metadata")
            writer.raw("{")
            writer.name("pattern", isFirst: true)
            writer.string(endpoint.pattern)
            writer.raw("}")
            return
        }
        // The requests of a busy node can take more than 292 years together.
        let time = Int(exactly: (counts.time / .nanoseconds(1)).rounded()) ?? .max
        for (name, number) in [
            ("num_requests", counts.requests), ("num_errors", counts.errors), ("processing_time", time),
            ("average_processing_time", counts.requests == 0 ? 0 : time / counts.requests),
        ] {
            writer.name(name)
            writer.raw(String(number))
        }
        // Some clients require the `data` member, although it is empty.
        writer.name("data")
        writer.raw("{}")
        writer.name("last_error")
        writer.string(counts.lastError)
    }
}
