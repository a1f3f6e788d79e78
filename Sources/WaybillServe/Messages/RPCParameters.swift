internal import Waybill
internal import WaybillJSON
internal import WaybillRouting

/// The parameters of a call, and the attachment, which is the value of the reserved key `$waybill`.
///
/// The attachment contains the data of a message that is not a parameter, such as headers and the remaining
/// time.
struct RPCParameters: Sendable {
    static let reservedKey = "$waybill"

    let attachment: RPCAttachment
    private let content: Content

    private enum Content: Sendable {
        case none
        case elements([JSONText])
        /// The members of an object, which may include the reserved key.
        case object(JSONNode)
    }

    /// Creates the parameters of a message; the node is nil if the message has no parameters.
    init(_ node: JSONNode?) throws(RPCFailure) {
        guard let node, node.isObject else {
            self.content = (node?.text.elements).map { .elements($0) } ?? .none
            self.attachment = RPCAttachment()
            return
        }
        self.content = .object(node)
        self.attachment =
            try node[Self.reservedKey].map { member throws(RPCFailure) in try RPCAttachment(member) }
            ?? RPCAttachment()
    }

    /// The values by name.
    ///
    /// The elements of an array have their positions as names, beginning with "0".
    ///
    /// This property decodes all values. The methods of the protocol itself (`$/...`) instead read single
    /// values with ``subscript(_:)``.
    var values: PassedValues? {
        switch self.content {
        case .none: return nil
        case .elements(let elements):
            var list = ValueList()
            for (position, element) in elements.enumerated() {
                list.add(element.keptParameter, String(position))
            }
            return list.values
        case .object(let node): return Self.content(of: node).values
        }
    }

    /// Returns the values of an object by name, and the value of the reserved key.
    static func content(
        of node: JSONNode,
        hasReservedKey: Bool = true
    ) -> (values: PassedValues?, reserved: JSONNode?) {
        var list = ValueList()
        var reserved: JSONNode?
        node.forEachChild { member in
            if hasReservedKey, member.isNamed(Self.reservedKey) {
                reserved = reserved ?? member
            } else {
                list.add(member.parameter, member.name)
            }
        }
        return (list.values, reserved)
    }

    /// Returns the value of a member, before decoding.
    subscript(name: String) -> JSONNode? {
        guard case .object(let node) = self.content else { return nil }
        return node[name]
    }
}

/// The values that are passed with a call.
private struct ValueList {
    private var list: PassedValues?
    private var count = 0
    // The values beyond the limit. If there are many values, a dictionary finds a value faster than the list.
    private var more: [String: any Sendable] = [:]

    private static let limit = 4

    /// Adds a value, unless an earlier value has the same name.
    mutating func add(_ value: any Sendable, _ name: String) {
        if self.list?[name] != nil || self.more[name] != nil { return }
        self.count += 1
        if self.count <= Self.limit {
            self.list = PassedValues(name, value, over: self.list)
        } else {
            self.more[name] = value
        }
    }

    var values: PassedValues? { .make(self.more, over: self.list) }
}

/// The data that is sent with a message in addition to its parameters.
struct RPCAttachment: Sendable {
    /// The URL of one message of a `$/publish`.
    ///
    /// A `$/publish` notification contains several messages and a URL for all of them. The value is nil if
    /// the message has that URL.
    var url: String?
    var headers: [String: String] = [:]
    /// The time that the caller waits, counted from the arrival of the message.
    var timeLeft: Duration?
    /// The number of routed messages that led to the message.
    var hops = 0
    /// Whether the caller wants progress replies.
    var wantsProgress = false
    /// Whether the caller answers each progress reply with `$/answer`.
    ///
    /// If the value is true, the handler waits for each answer.
    var answersProgress = false
    /// The payload of the message, such as the value of a message to a return URL.
    var payload: JSONText?
    /// The ID of the message to which this message is the reply.
    var correlationID: CorrelationID?
    /// The ID of the original message, when the receiving node itself sends the value to the return URL.
    var returnID: CorrelationID?

    init() {}

    init(_ node: JSONNode) throws(RPCFailure) {
        guard node.isObject else { throw Self.invalid("an object") }
        try node.forEachChild { member throws(RPCFailure) in try self.read(member) }
    }

    /// Whether the attachment has no content.
    var isEmpty: Bool {
        self.url == nil && self.headers.isEmpty && self.timeLeft == nil && self.hops <= 0
            && !self.wantsProgress
            && !self.answersProgress && self.payload == nil && self.correlationID == nil
            && self.returnID == nil
    }

    private mutating func read(_ member: JSONNode) throws(RPCFailure) {
        let (name, value) = (member.name, member.text)
        switch name {
        case "url":
            guard let url = value.string else { throw Self.invalid("a text", name) }
            self.url = url
        case "headers":
            guard let members = value.members else { throw Self.invalid("an object", name) }
            for (header, text) in members {
                guard let text = text.string else { throw Self.invalid("texts", name) }
                self.headers[header] = text
            }
        case "timeLeft":
            guard let milliseconds = value.double, milliseconds.isFinite else {
                throw Self.invalid("milliseconds", name)
            }
            self.timeLeft = .milliseconds(min(max(milliseconds, 0), 1e15))
        case "hops":
            guard let hops = value.int, hops >= 0 else { throw Self.invalid("a count", name) }
            self.hops = hops
        case "progress": self.wantsProgress = try Self.flag(value, name)
        case "answers": self.answersProgress = try Self.flag(value, name)
        case "payload": self.payload = member.kept
        case "correlation": self.correlationID = try Self.id(value, name)
        case "returnCorrelation": self.returnID = try Self.id(value, name)
        default: break
        }
    }

    private static func id(_ value: JSONText, _ name: String) throws(RPCFailure) -> CorrelationID {
        guard let number = value.string.flatMap({ UInt64($0, radix: 16) }) else {
            throw Self.invalid("a hexadecimal number", name)
        }
        return CorrelationID(rawValue: number)
    }

    private static func flag(_ value: JSONText, _ name: String) throws(RPCFailure) -> Bool {
        guard let flag = value.bool else { throw Self.invalid("true or false", name) }
        return flag
    }

    private static func invalid(_ wanted: String, _ name: String? = nil) -> RPCFailure {
        let place = name.map { "`\($0)` in " } ?? ""
        return .parameters("\(place)`\(RPCParameters.reservedKey)` must be \(wanted)")
    }
}

extension JSONWriter {
    /// Appends parameters as an object.
    mutating func parameters(
        _ values: [String: any Sendable],
        _ attachment: RPCAttachment
    ) throws(RoutingError) {
        self.raw("{")
        var isFirst = true
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            self.name(name, isFirst: isFirst)
            isFirst = false
            try self.value(value)
        }
        self.attachment(attachment, isFirst: isFirst)
        self.raw("}")
    }

    /// Appends the reserved key and its value, unless the attachment is empty.
    mutating func attachment(_ attachment: RPCAttachment, isFirst: Bool) {
        guard !attachment.isEmpty else { return }
        // The names are constants, so they are written with their quotation marks and need no escaping.
        self.raw(isFirst ? "\"$waybill\":{" : ",\"$waybill\":{")
        let start = self.bytes.count
        func append(_ text: String, to writer: inout JSONWriter) {
            if writer.bytes.count > start { writer.raw(",") }
            writer.raw(text)
        }
        if let url = attachment.url {
            append("\"url\":", to: &self)
            self.string(url)
        }
        if !attachment.headers.isEmpty {
            append("\"headers\":", to: &self)
            self.object(attachment.headers)
        }
        if let left = attachment.timeLeft {
            append("\"timeLeft\":", to: &self)
            self.raw(String(max(0, left / .milliseconds(1))))
        }
        if attachment.hops > 0 {
            append("\"hops\":", to: &self)
            self.raw(String(attachment.hops))
        }
        if attachment.wantsProgress { append("\"progress\":true", to: &self) }
        if attachment.answersProgress { append("\"answers\":true", to: &self) }
        if let payload = attachment.payload {
            append("\"payload\":", to: &self)
            self.raw(payload)
        }
        if let id = attachment.correlationID {
            append("\"correlation\":", to: &self)
            self.string("\(id)")
        }
        if let id = attachment.returnID {
            append("\"returnCorrelation\":", to: &self)
            self.string("\(id)")
        }
        self.raw("}")
    }
}
