internal import FoundationEssentials

/// An event as CloudEvents 1.0 describes it: attributes that are text, and data.
///
/// It has two encodings: ``init(structured:)`` and ``structured``, where the whole event is one JSON object,
/// and ``init(headers:contentType:body:)`` and ``headers``, where the attributes stand beside the data.
package struct CloudEvent: Sendable, Equatable {
    /// The attributes by name, without the version: what is no text in JSON is here as it is spelled.
    package private(set) var attributes: [String: String]
    /// The data, of the type that `datacontenttype` names; nil if there is none.
    package var data: [UInt8]?

    /// The version of the specification.
    package static let version = "1.0"

    /// Makes an event.
    ///
    /// - Parameters:
    ///   - attributes: at least `id`, `source` and `type`.
    ///   - data: the data, JSON unless `datacontenttype` says otherwise.
    /// - Throws: what is wrong with the attributes.
    package init(_ attributes: [String: String], data: [UInt8]? = nil) throws(CloudEventError) {
        for name in ["id", "source", "type"] where attributes[name, default: ""].isEmpty {
            throw .missing(name)
        }
        for name in attributes.keys where !Self.isName(name) { throw .invalidName(name) }
        self.attributes = attributes
        self.data = data
    }

    /// Makes an event of attributes that are those of every event.
    package init(known attributes: [String: String], data: [UInt8]?) {
        self.attributes = attributes
        self.data = data
    }

    package subscript(name: String) -> String? { self.attributes[name] }

    /// What the data is.
    package var contentType: String { self["datacontenttype"] ?? "application/json" }

    static func isName(_ name: String) -> Bool {
        !name.isEmpty && name != "data"
            && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
    }

    /// Whether a content type is JSON.
    package static func isJSON(_ contentType: String) -> Bool {
        let type = Self.mediaType(of: contentType)
        return type.hasSuffix("/json") || type.hasSuffix("+json")
    }
}

extension CloudEvent {
    /// The media type that the value of a `Content-Type` names, in lower case and without parameters.
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

/// Why an event is none.
package enum CloudEventError: Error, Equatable, CustomStringConvertible {
    case notJSON(JSONError)
    case missing(String)
    case invalidName(String)
    case invalidValue(String)
    case otherVersion(String)
    case dataTwice

    package var description: String {
        switch self {
        case .notJSON(let error): "the event is refused: \(error)"
        case .missing(let name): "the event has no `\(name)`"
        case .invalidName(let name): "`\(name.prefix(32))` is no name of an attribute"
        case .invalidValue(let name): "the value of `\(name.prefix(32))` is not allowed"
        case .otherVersion(let version): "events have version 1.0, and this one has `\(version.prefix(32))`"
        case .dataTwice: "an event has `data` or `data_base64`"
        }
    }
}

// The JSON format: the whole event is an object.
extension CloudEvent {
    /// The content type of an event in this encoding.
    package static let structuredType = "application/cloudevents+json"

    /// The content type of several events in one body, which is not read.
    package static let batchType = "application/cloudevents-batch+json"

    /// Reads an event that is one JSON object.
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
            // Text that is no JSON stands in a string.
            let isText = attributes["datacontenttype"].map { !Self.isJSON($0) } ?? false
            data =
                isText ? content.string.map { Array($0.utf8) } ?? Array(content.slice) : Array(content.slice)
        }
        try self.init(attributes, data: data)
    }

    /// An attribute's value as text; nil for one that has none.
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

// The binary mode: the attributes are headers, percent-encoded, and the data is the body.
extension CloudEvent {
    /// What the names of HTTP headers begin with.
    package static let headerPrefix = "ce-"

    /// Reads an event whose attributes are headers.
    ///
    /// - Parameters:
    ///   - headers: names in any case, and values as they came; only those with the prefix are read.
    ///   - contentType: what the body is.
    ///   - body: the data; none if it is empty.
    /// - Throws: what is wrong with the attributes.
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

    /// The attributes as headers, in the order of their names; what the data is stands apart.
    package var headers: [(name: String, value: String)] {
        let attributes = self.attributes.filter { $0.key != "datacontenttype" }
        return [(Self.headerPrefix + "specversion", Self.version)]
            + attributes.sorted { $0.key < $1.key }.map {
                (Self.headerPrefix + $0.key, HeaderText.encoded($0.value))
            }
    }
}
