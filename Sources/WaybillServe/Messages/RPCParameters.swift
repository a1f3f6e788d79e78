internal import Waybill
internal import WaybillJSON
internal import WaybillRouting

/// The parameters of a call, and what stands beside them under the reserved key `$waybill`.
struct RPCParameters: Sendable {
    /// The reserved key.
    static let reservedKey = "$waybill"

    let attachment: RPCAttachment
    private let content: Content

    private enum Content: Sendable {
        case elements([JSONText])
        case object(JSONText, [JSONText.Member])
        /// What is no object has none.
        case members(of: JSONText)
    }

    /// Reads parameters, if there are any; an object is walked over once.
    init(_ text: JSONText?) throws(RPCFailure) {
        guard let text, text.shape == .object else {
            self.content = (text?.elements).map { .elements($0) } ?? .members(of: .null)
            self.attachment = RPCAttachment()
            return
        }
        var members: [JSONText.Member] = []
        members.reserveCapacity(4)
        text.forEachMember { members.append($0) }
        self.content = .object(text, members)
        let reserved = members.last { text.says(Self.reservedKey, at: $0.name) }
        self.attachment =
            try reserved.map { member throws(RPCFailure) in try RPCAttachment(text[member.value]) }
            ?? RPCAttachment()
    }

    /// The parameters of a message that a method of the protocol is about.
    init(membersOf text: JSONText?, _ attachment: RPCAttachment) {
        self.content = .members(of: text ?? .null)
        self.attachment = attachment
    }

    /// The values by name; those of an array are named by their position, from "0" on.
    ///
    /// They are decoded here: what a method of the protocol asks for is ``subscript(_:)``.
    var values: [String: any Sendable] {
        var values: [String: any Sendable] = [:]
        switch self.content {
        case .elements(let elements):
            for (position, element) in elements.enumerated() { values[String(position)] = element.parameter }
        case .object(let text, let members):
            for (name, value) in members where !text.says(Self.reservedKey, at: name) {
                values[text[name].string ?? ""] = text[value].parameter
            }
        case .members(let text): values = text.parameters ?? [:]
        }
        return values
    }

    /// A value as it came.
    subscript(name: String) -> JSONText? {
        guard case .object(let text, let members) = self.content else { return nil }
        return members.last { text.says(name, at: $0.name) }.map { text[$0.value] }
    }
}

/// What travels beside the parameters.
struct RPCAttachment: Sendable {
    var headers: [String: String] = [:]
    /// How long the caller waits, from the moment that the message arrives.
    var timeLeft: Duration?
    /// How many routes led here.
    var hops = 0
    /// Whether the caller wants progress replies.
    var wantsProgress = false
    /// Whether the caller answers each of them with `$/answer`, and the handler shall wait for it.
    var answersProgress = false
    /// The value that a message to a return URL carries.
    var payload: JSONText?
    /// The ID of the message that this one answers.
    var correlationID: CorrelationID?
    /// The ID that the value for the return URL answers to, where a node sends it on itself.
    var returnID: CorrelationID?

    init() {}

    init(_ text: JSONText) throws(RPCFailure) {
        guard text.shape == .object else { throw Self.invalid("an object") }
        var failure: RPCFailure?
        text.forEachMember { name, value in
            guard failure == nil else { return }
            do throws(RPCFailure) {
                try self.read(text[name].string ?? "", text[value])
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Whether there is nothing to say.
    var isEmpty: Bool {
        self.headers.isEmpty && self.timeLeft == nil && self.hops <= 0 && !self.wantsProgress
            && !self.answersProgress && self.payload == nil && self.correlationID == nil
            && self.returnID == nil
    }

    private mutating func read(_ name: String, _ value: JSONText) throws(RPCFailure) {
        switch name {
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
        case "payload": self.payload = value
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
        return .parameters("\(place)`\(RPCParameters.reservedKey)` has to be \(wanted)")
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

    /// Appends the reserved key with its value, if there is anything to say.
    mutating func attachment(_ attachment: RPCAttachment, isFirst: Bool) {
        guard !attachment.isEmpty else { return }
        // The names are known, and so stand in the text with their quotation marks.
        self.raw(isFirst ? "\"$waybill\":{" : ",\"$waybill\":{")
        let start = self.bytes.count
        func append(_ text: String, to writer: inout JSONWriter) {
            if writer.bytes.count > start { writer.raw(",") }
            writer.raw(text)
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
