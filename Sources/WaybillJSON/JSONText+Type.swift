package import WaybillRouting

// A type note: the name of the type that a value had when it was encoded. The note follows the value in the
// bytes, and has the form of the next member of the enclosing object. The value therefore needs no additional
// property for the name, which only error messages use.
extension JSONText {
    private static let note = Array(",\"$type\":\"".utf8)

    /// The maximum number of bytes in the name of a type.
    private static let nameLimit = 128

    /// Creates the JSON text of a value, followed by the name of its type.
    ///
    /// - Throws: `RoutingError` with the code `notTransferable` and an empty URL.
    package init(notingTypeOf value: any Sendable) throws(RoutingError) {
        let simpleName = Self.simpleName(of: value)
        if simpleName == nil, value is any EncodedValue {
            let text = try JSONText(encoding: value)
            self.init(text, noting: text.notedType)
        } else {
            let name = simpleName ?? TypeName.of(value: value)
            self.init(JSONText(try JSONWriter.encoded(value)), noting: name)
        }
    }

    /// Creates a copy of a JSON text, followed by the name of a type.
    package init(_ text: JSONText, noting name: String?) {
        guard let name, Self.isName(name.utf8) else {
            self = text
            return
        }
        var writer = JSONWriter(capacity: text.range.count + Self.note.count + name.utf8.count + 1)
        writer.raw(text)
        writer.raw(Self.note[...])
        writer.raw(name)
        writer.raw("\"")
        self.init(bytes: writer.bytes, range: 0..<text.range.count)
    }

    /// Returns the ``TypeName`` name of a value whose type is a common reply type.
    ///
    /// The method avoids the protocol casts that `TypeName` performs.
    private static func simpleName(of value: any Sendable) -> String? {
        let type = Swift.type(of: value)
        if type == Int.self { return "Int" }
        if type == String.self { return "String" }
        if type == Bool.self { return "Bool" }
        if type == Double.self { return "Double" }
        if type == Void.self { return "Void" }
        return nil
    }

    /// The type note after the value, as a member of the enclosing object; empty if the value has no type
    /// note.
    package var typeNote: ArraySlice<UInt8> {
        let start = self.range.upperBound
        let rest = self.bytes[start...].prefix(Self.note.count + Self.nameLimit + 1)
        guard rest.starts(with: Self.note),
            let end = rest.dropFirst(Self.note.count).firstIndex(of: UInt8(ascii: "\""))
        else { return [] }
        return self.bytes[start...end]
    }

    /// The name of the type in the type note; nil if the value has no type note.
    package var notedType: String? {
        let name = self.typeNote.dropFirst(Self.note.count).dropLast()
        return !name.isEmpty && Self.isName(name) ? String(decoding: name, as: UTF8.self) : nil
    }

    /// Returns whether bytes are a short text on one line that needs no escapes in JSON.
    private static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.count <= Self.nameLimit
            && bytes.allSatisfy {
                (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
    }
}
