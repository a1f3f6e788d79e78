internal import FoundationEssentials
internal import WaybillRouting

/// An event of CloudEvents 1.0, which consists of text attributes and data.
///
/// An event has two encodings. In ``init(structured:)`` and ``structured``, the whole event is one JSON
/// object. In ``init(headers:contentType:body:)`` and ``headers``, the attributes are separate from the data.
package struct CloudEvent: Sendable, Equatable {
    /// The attributes by name, without the attribute `specversion`.
    ///
    /// Numbers and Booleans are stored as their JSON text.
    package private(set) var attributes: [String: String]
    /// The data; nil if the event has no data.
    ///
    /// The attribute `datacontenttype` contains the content type of the data.
    package var data: [UInt8]?

    /// The version of the specification.
    package static let version = "1.0"

    /// Creates an event.
    ///
    /// - Parameters:
    ///   - attributes: The attributes, which must contain `id`, `source` and `type`.
    ///   - data: The data. The data is JSON unless `datacontenttype` contains another type.
    /// - Throws: The problem with the attributes.
    package init(_ attributes: [String: String], data: [UInt8]? = nil) throws(CloudEventError) {
        for name in ["id", "source", "type"] where attributes[name, default: ""].isEmpty {
            throw .missing(name)
        }
        for name in attributes.keys where !Self.isName(name) { throw .invalidName(name) }
        self.attributes = attributes
        self.data = data
    }

    /// Creates an event whose attributes the caller has validated.
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
    /// Returns an empty text if the content type is not ASCII.
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

// The structured mode, in which the whole event is a JSON object.
extension CloudEvent {
    /// The content type of an event in the structured mode.
    package static let structuredType = "application/cloudevents+json"

    /// The content type of a body with several events, which Waybill does not support.
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
            // If the content type is not JSON, the data is the content of a JSON string.
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
        writer.attributes(of: self)
        writer.data(of: self)
        writer.raw("}")
        return writer.bytes
    }
}

extension JSONWriter {
    /// Appends the attributes of an event as the beginning of its object.
    package mutating func attributes(of event: CloudEvent) {
        self.raw("{")
        self.name("specversion", isFirst: true)
        self.string(CloudEvent.version)
        for (name, value) in event.attributes.sorted(by: { $0.key < $1.key }) {
            self.name(name)
            self.string(value)
        }
    }

    /// Appends the data of an event as the last member of its object.
    ///
    /// Appends nothing if the event has no data.
    package mutating func data(of event: CloudEvent) {
        guard let data = event.data else { return }
        let isJSON = CloudEvent.isJSON(event.contentType)
        if isJSON, let json = try? JSONText(validating: data) {
            self.name("data")
            self.raw(json)
        } else if !isJSON, let text = String(validating: data, as: UTF8.self) {
            self.name("data")
            self.string(text)
        } else {
            self.name("data_base64")
            self.string(Data(data).base64EncodedString())
        }
    }
}

// The binary mode, in which the attributes are percent-encoded headers and the body is the data.
extension CloudEvent {
    /// The prefix of header names.
    package static let headerPrefix = "ce-"

    /// Creates an event whose attributes are headers.
    ///
    /// - Parameters:
    ///   - headers: The headers. Their names may be in any case, and their values are percent-encoded.
    ///     Headers without ``headerPrefix`` are ignored.
    ///   - contentType: The content type of the body.
    ///   - body: The data. If the body is empty, the event has no data.
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
            guard let text = HeaderText.decoded(value), CombiningMarks.areFew(in: text) else {
                throw .invalidValue(attribute)
            }
            attributes[attribute] = text
        }
        try Self.takeVersion(&attributes)
        if let contentType {
            guard CombiningMarks.areFew(in: contentType) else { throw .invalidValue("datacontenttype") }
            attributes["datacontenttype"] = contentType
        }
        try self.init(attributes, data: body.isEmpty ? nil : body)
    }

    /// The attributes as headers, sorted by name.
    ///
    /// The attribute `datacontenttype` is not included, because the transport sends it as the content type.
    package var headers: [(name: String, value: String)] {
        let attributes = self.attributes.filter { $0.key != "datacontenttype" }
        return [(Self.headerPrefix + "specversion", Self.version)]
            + attributes.sorted { $0.key < $1.key }.map {
                (Self.headerPrefix + $0.key, HeaderText.encoded($0.value))
            }
    }
}
