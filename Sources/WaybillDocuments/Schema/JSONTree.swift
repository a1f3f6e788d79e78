package import WaybillJSON

/// A JSON value as a tree.
///
/// The names of members are sorted in the text, so equal values have equal texts.
package indirect enum JSONTree: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A number in its original spelling.
    case number(String)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    package static func int(_ value: some BinaryInteger) -> Self { .number(String(value)) }

    package static func strings(_ values: some Sequence<String>) -> Self {
        .array(values.map { .string($0) })
    }

    /// Creates a tree from a validated text.
    package init(_ text: JSONText) {
        switch text.shape {
        case .null: self = .null
        case .bool: self = .bool(text.bool == true)
        case .number: self = .number(String(decoding: text.slice, as: UTF8.self))
        case .string: self = .string(text.string ?? "")
        case .array: self = .array((text.elements ?? []).map { JSONTree($0) })
        case .object:
            let members = (text.members ?? []).map { ($0.name, JSONTree($0.value)) }
            self = .object(Dictionary(members) { _, last in last })
        }
    }

    /// Creates a tree by parsing JSON.
    package init(json: String) throws(JSONError) { self.init(try JSONText(validating: Array(json.utf8))) }

    /// The value of a member; nil if the member does not exist.
    ///
    /// Setting nil removes the member.
    package subscript(name: String) -> JSONTree? {
        get {
            guard case .object(let members) = self else { return nil }
            return members[name]
        }
        set {
            guard case .object(var members) = self else { return }
            // Release the members first, so that the change does not copy them.
            self = .null
            members[name] = newValue
            self = .object(members)
        }
    }

    package var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var flag: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    package var elements: [JSONTree]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    package var members: [String: JSONTree]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The value of a number, as the nearest `Double`.
    package var double: Double? {
        if case .number(let text) = self { Double(text) } else { nil }
    }
}

extension JSONTree: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral, ExpressibleByIntegerLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }

    package init(booleanLiteral value: Bool) { self = .bool(value) }

    package init(integerLiteral value: Int) { self = .int(value) }

    package init(arrayLiteral elements: JSONTree...) { self = .array(elements) }

    package init(dictionaryLiteral elements: (String, JSONTree)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

extension JSONTree {
    /// Returns the value as text.
    ///
    /// The text is on one line, or has a line for each member and element.
    package func written(isPretty: Bool = true) -> String {
        var writer = JSONWriter(capacity: 1024)
        self.write(into: &writer, indent: isPretty ? 0 : nil)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func write(into writer: inout JSONWriter, indent: Int?) {
        switch self {
        case .null: writer.raw("null")
        case .bool(let flag): writer.raw(flag ? "true" : "false")
        case .number(let text): writer.raw(text)
        case .string(let text): writer.string(text)
        case .array(let elements):
            Self.list(elements, opening: "[", closing: "]", writer: &writer, indent: indent) {
                element,
                writer,
                indent in
                element.write(into: &writer, indent: indent)
            }
        case .object(let members):
            Self.list(
                members.sorted { $0.key < $1.key },
                opening: "{",
                closing: "}",
                writer: &writer,
                indent: indent
            ) {
                member,
                writer,
                indent in
                writer.name(member.key, isFirst: true)
                if indent != nil { writer.raw(" ") }
                member.value.write(into: &writer, indent: indent)
            }
        }
    }

    private static func list<Item>(
        _ items: [Item],
        opening: String,
        closing: String,
        writer: inout JSONWriter,
        indent: Int?,
        _ write: (Item, inout JSONWriter, Int?) -> Void
    ) {
        writer.raw(opening)
        let inner = indent.map { $0 + 2 }
        for (index, item) in items.enumerated() {
            if index > 0 { writer.raw(",") }
            if let inner { writer.raw("\n" + String(repeating: " ", count: inner)) }
            write(item, &writer, inner)
        }
        if let indent, !items.isEmpty { writer.raw("\n" + String(repeating: " ", count: indent)) }
        writer.raw(closing)
    }
}
