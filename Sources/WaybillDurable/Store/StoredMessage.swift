#if Durable
internal import WaybillJSON
internal import WaybillRouting

/// A message of a store, from the call of `send` until the message is handled or a dead letter.
struct StoredMessage: Sendable {
    let url: String
    /// The encoded details; nil when the message has no details.
    let details: String?
    /// The lane of the URL: the queue in which the message waits.
    let lane: String
    var order: String?

    // The arguments of `send`, which are not read from the file.
    var key: String?
    /// How long the store recognizes the key; nil for the setting of the store.
    var keyLifetime: Duration?
    var delay = Duration.zero
    var lifetime: Duration?

    // The values that a message has when it is in the file.
    var id = 0
    /// The number of attempts that have begun, including the current attempt.
    var attempts = 0
    /// The time, in milliseconds of the store's clock, at which the message expires; nil if it does not.
    var expires: Int?
    /// The time of the send, which with the number is unique, even if a restored backup reuses numbers.
    var sent = 0

    func isExpired(at time: Int) -> Bool { self.expires.map { $0 <= time } ?? false }
}

extension StoredMessage {
    /// Creates a message with encoded details, in the lane of its URL.
    init(_ url: String, _ details: MessageDetails, by policies: DurablePolicies) throws(RoutingError) {
        self.init(url: url, details: try details.encoded(for: url), lane: try policies.lane(of: url))
    }

    /// Reads a row that begins with id, url, lane, order_key, details, attempts, expires and sent.
    init(_ row: Statement) {
        self.init(url: row.text(1) ?? "", details: row.text(4), lane: row.text(2) ?? "", order: row.text(3))
        self.id = row.int(0)
        self.attempts = row.amount(5)
        self.expires = row.optionalAmount(6)
        self.sent = row.int(7)
    }
}

/// The parts of a message other than its URL, which are one column of the file.
struct MessageDetails: Sendable {
    var parameters: [String: any Sendable] = [:]
    var headers: [String: String] = [:]
    var payload: (any Sendable)?
    /// The number of the message whose reply this message contains; nil if it contains no reply.
    var answers: Int?
    /// Whether another process sent the message, so that its values cannot replace values of the path.
    var isExternal = false

    /// Encodes the details as a JSON object; nil when all of them are empty.
    func encoded(for url: String) throws(RoutingError) -> String? {
        if self.parameters.isEmpty, self.headers.isEmpty, self.payload == nil, self.answers == nil,
            !self.isExternal
        {
            return nil
        }
        var writer = JSONWriter()
        /// Writes a value, and returns the name of its type if the value stays JSON when it is decoded.
        func write(_ value: any Sendable, as name: String) throws(RoutingError) -> String? {
            do throws(RoutingError) {
                let text = try JSONText(notingTypeOf: value)
                writer.raw(text)
                return [.array, .object].contains(text.shape) ? text.notedType : nil
            } catch {
                let message = "\(name): \(error.message.replacing("sent to another process", with: "stored"))"
                throw RoutingError(error.code, url: url, message: message, cause: error.cause)
            }
        }
        // The names of the types of values, so that a later program can report both types in an error.
        var types: [String: String] = [:]
        writer.raw("{\"parameters\":{")
        for (index, (name, value)) in self.parameters.sorted(by: { $0.key < $1.key }).enumerated() {
            writer.name(name, isFirst: index == 0)
            types[name] = try write(value, as: "the parameter \(name)")
        }
        writer.raw("}")
        if !self.headers.isEmpty {
            writer.name("headers")
            writer.object(self.headers)
        }
        if let answers { writer.raw(",\"answers\":\(answers)") }
        if self.isExternal { writer.raw(",\"external\":true") }
        if let payload {
            writer.name("payload")
            if let type = try write(payload, as: "the payload") {
                writer.name("payloadType")
                writer.string(type)
            }
        }
        if !types.isEmpty {
            writer.name("types")
            writer.object(types)
        }
        writer.raw("}")
        guard let excess = Self.excess(of: writer.bytes) else {
            return String(decoding: writer.bytes, as: UTF8.self)
        }
        throw RoutingError(.notTransferable, url: url, message: "\(excess), which is the limit of a store")
    }

    /// The maximum size of the encoded details, in bytes; SQLite would reject a larger text only at 1 GB.
    static let sizeLimit = 64 << 20

    /// Returns the limit for stored details that a JSON text exceeds; nil if the details can be decoded.
    private static func excess(of bytes: [UInt8]) -> String? {
        if bytes.count > Self.sizeLimit { return "the values have more than \(Self.sizeLimit) bytes" }
        if JSONText(bytes).isDeeper(than: JSONText.depthLimit) {
            // The details are an object that contains an object of parameters.
            return "the values are nested deeper than \(JSONText.depthLimit - 2) levels"
        }
        return CombiningMarks.areFew(in: bytes.span) ? nil : CombiningMarks.excess
    }
}

extension MessageDetails {
    /// Decodes the details that ``encoded(for:)`` has written into the column of a message.
    init(decoding text: String?, for url: String) throws(RoutingError) {
        self.init()
        guard let text else { return }
        guard let members = try? JSONText(validating: Array(text.utf8)).members else {
            let message = "the stored details of the message are not a JSON object"
            throw RoutingError(.typeMismatch, url: url, message: message)
        }
        var (types, payloadType): ([String: String], String?) = ([:], nil)
        for (name, value) in members {
            switch name {
            case "parameters": self.parameters = value.parameters ?? [:]
            case "headers": self.headers = value.texts
            case "answers": self.answers = value.int
            case "external": self.isExternal = value.bool == true
            case "payload": self.payload = value.parameter
            case "types": types = value.texts
            case "payloadType": payloadType = value.string
            default: break
            }
        }
        for (name, type) in types {
            if let text = self.parameters[name] as? JSONText {
                self.parameters[name] = JSONText(text, noting: type)
            }
        }
        if let text = self.payload as? JSONText { self.payload = JSONText(text, noting: payloadType) }
    }
}

extension JSONText {
    /// The text members of an object.
    fileprivate var texts: [String: String] {
        (self.members ?? []).reduce(into: [:]) { $0[$1.name] = $1.value.string }
    }
}
#endif
