internal import FoundationEssentials

/// An event of CloudEvents 1.0: text attributes, and data.
///
/// An event has two encodings. In ``init(structured:)`` and ``structured``, the whole event is one JSON
/// object. In ``init(headers:contentType:body:)`` and ``headers``, the attributes are separate from the data.
package struct CloudEvent: Sendable, Equatable {
    /// The attributes by name, without the version.
    ///
    /// Numbers and Booleans are stored as their JSON text.
    package private(set) var attributes: [String: String]
    /// The data, with the content type in `datacontenttype`; nil if the event has no data.
    package var data: [UInt8]?

    /// The version of the specification.
    package static let version = "1.0"

    /// Creates an event.
    ///
    /// - Parameters:
    ///   - attributes: The attributes, which must contain `id`, `source` and `type`.
    ///   - data: The data. It is JSON unless `datacontenttype` names another type.
    /// - Throws: The problem with the attributes.
    package init(_ attributes: [String: String], data: [UInt8]? = nil) throws(CloudEventError) {
        for name in ["id", "source", "type"] where attributes[name, default: ""].isEmpty {
            throw .missing(name)
        }
        for name in attributes.keys where !Self.isName(name) { throw .invalidName(name) }
        self.attributes = attributes
        self.data = data
    }

    /// Creates an event whose attributes are known to be valid.
    package init(known attributes: [String: String], data: [UInt8]?) {
        self.attributes = attributes
        self.data = data
    }

    package subscript(name: String) -> String? { self.attributes[name] }

    /// The content type of the data.
    package var contentType: String { self["datacontenttype"] ?? "application/json" }

    static func isName(_ name: String) -> Bool {
        !name.isEmpty && name != "data"
            && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
    }

    /// Returns whether a content type is JSON.
    package static func isJSON(_ contentType: String) -> Bool {
        let type = Self.mediaType(of: contentType)
        return type.hasSuffix("/json") || type.hasSuffix("+json")
    }
}

extension CloudEvent {
    /// Returns the media type in a `Content-Type` value, in lower case and without parameters.
    ///
    /// Returns an empty text for a type that is not ASCII.
    package static func mediaType(of contentType: String) -> String {
        var bytes: [UInt8] = []
        for byte in contentType.utf8 {
            switch byte {
            case UInt8(ascii: ";"): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: " "): break
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): bytes.append(byte | 0x20)
            case ..<0x80: bytes.append(byte)
            default: return ""
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The reason why an event is invalid.
package enum CloudEventError: Error, Equatable, CustomStringConvertible {
    case notJSON(JSONError)
    case missing(String)
    case invalidName(String)
    case invalidValue(String)
    case otherVersion(String)
    case dataTwice

    package var description: String {
        switch self {
        case .notJSON(let error): "the event is rejected: \(error)"
        case .missing(let name): "the event has no `\(name)`"
        case .invalidName(let name): "`\(name.prefix(32))` is not the name of an attribute"
        case .invalidValue(let name): "the value of the attribute `\(name.prefix(32))` is invalid"
        case .otherVersion(let version): "the version of the event must be 1.0, not `\(version.prefix(32))`"
        case .dataTwice: "the event has both `data` and `data_base64`: send one of them"
        }
    }
}

// The structured mode: the whole event is a JSON object.
extension CloudEvent {
    /// The content type of an event in the structured mode.
    package static let structuredType = "application/cloudevents+json"

    /// The content type of several events in one body, which is not supported.
    package static let batchType = "application/cloudevents-batch+json"

    /// Creates an event from one JSON object.
    package init(structured bytes: [UInt8]) throws(CloudEventError) {
        let object: JSONText
        do throws(JSONError) {
            object = try JSONText(validating: bytes)
        } catch {
            throw .notJSON(error)
        }
        guard let members = object.members else { throw .notJSON(.notObject) }
        var attributes: [String: String] = [:]
        var content: JSONText?
        var base64: JSONText?
        for (name, value) in members where !value.isNull {
            switch name {
            case "data": content = value
            case "data_base64": base64 = value
            default:
                guard Self.isName(name) else { throw .invalidName(name) }
                guard let text = Self.text(of: value) else { throw .invalidValue(name) }
                attributes[name] = text
            }
        }
        try Self.takeVersion(&attributes)
        if content != nil, base64 != nil { throw .dataTwice }
        var data: [UInt8]?
        if let base64 {
            guard let bytes = base64.string.flatMap({ Data(base64Encoded: $0) }) else {
                throw .invalidValue("data_base64")
            }
            data = Array(bytes)
        } else if let content {
            // Text that is not JSON is the content of a JSON string.
            let isText = attributes["datacontenttype"].map { !Self.isJSON($0) } ?? false
            data =
                isText ? content.string.map { Array($0.utf8) } ?? Array(content.slice) : Array(content.slice)
        }
        try self.init(attributes, data: data)
    }

    /// Returns the value of an attribute as text, or nil when the value has an invalid type.
    private static func text(of value: JSONText) -> String? {
        switch value.shape {
        case .string: value.string
        case .bool: String(decoding: value.slice, as: UTF8.self)
        case .number: value.int.map { "\($0)" }
        case .null, .array, .object: nil
        }
    }

    private static func takeVersion(_ attributes: inout [String: String]) throws(CloudEventError) {
        guard let version = attributes.removeValue(forKey: "specversion") else {
            throw .missing("specversion")
        }
        if version != Self.version { throw .otherVersion(version) }
    }

    /// The event as one JSON object.
    package var structured: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.raw("{")
        writer.name("specversion", isFirst: true)
        writer.string(Self.version)
        for (name, value) in self.attributes.sorted(by: { $0.key < $1.key }) {
            writer.name(name)
            writer.string(value)
        }
        if let data {
            if Self.isJSON(self.contentType), let json = try? JSONText(validating: data) {
                writer.name("data")
                writer.raw(json)
            } else if let text = String(validating: data, as: UTF8.self), !Self.isJSON(self.contentType) {
                writer.name("data")
                writer.string(text)
            } else {
                writer.name("data_base64")
                writer.string(Data(data).base64EncodedString())
            }
        }
        writer.raw("}")
        return writer.bytes
    }
}

// The binary mode: the attributes are percent-encoded headers, and the data is the body.
extension CloudEvent {
    /// The prefix of header names.
    package static let headerPrefix = "ce-"

    /// Creates an event whose attributes are headers.
    ///
    /// - Parameters:
    ///   - headers: The headers, with names in any case and encoded values. Only headers with the prefix are
    ///     read.
    ///   - contentType: The content type of the body.
    ///   - body: The data. An empty body means no data.
    /// - Throws: The problem with the attributes.
    package init(
        headers: some Sequence<(name: String, value: String)>,
        contentType: String?,
        body: [UInt8]
    ) throws(CloudEventError) {
        var attributes: [String: String] = [:]
        for (field, value) in headers where field.utf8.allSatisfy({ $0 < 0x80 }) {
            let name = field.lowercased()
            guard name.hasPrefix(Self.headerPrefix) else { continue }
            let attribute = String(name.dropFirst(Self.headerPrefix.utf8.count))
            guard let text = HeaderText.decoded(value) else { throw .invalidValue(attribute) }
            attributes[attribute] = text
        }
        try Self.takeVersion(&attributes)
        if let contentType { attributes["datacontenttype"] = contentType }
        try self.init(attributes, data: body.isEmpty ? nil : body)
    }

    /// The attributes as headers, sorted by name.
    ///
    /// The content type of the data is not included.
    package var headers: [(name: String, value: String)] {
        let attributes = self.attributes.filter { $0.key != "datacontenttype" }
        return [(Self.headerPrefix + "specversion", Self.version)]
            + attributes.sorted { $0.key < $1.key }.map {
                (Self.headerPrefix + $0.key, HeaderText.encoded($0.value))
            }
    }
}
