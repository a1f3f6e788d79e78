package import WaybillRouting

// The type that a value had where it was encoded. It stands behind the value, as the next member of the
// object that the value is in, so that a value takes no more memory for it: only the sentence of an error
// asks.
extension JSONText {
    private static let note = Array(",\"$type\":\"".utf8)

    /// The most bytes of a type's name.
    private static let nameLimit = 128

    /// Any value that can be encoded, with the name of its type behind it.
    ///
    /// - Throws: `RoutingError` with the code `notTransferable`, about no URL.
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

    private init(_ text: JSONText, noting name: String?) {
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

    /// The names that ``TypeName`` has for the types that most replies are of; it would ask for each whether
    /// it is one of several protocols.
    private static func simpleName(of value: any Sendable) -> String? {
        let type = Swift.type(of: value)
        if type == Int.self { return "Int" }
        if type == String.self { return "String" }
        if type == Bool.self { return "Bool" }
        if type == Double.self { return "Double" }
        if type == Void.self { return "Void" }
        return nil
    }

    /// What stands behind the value about its type, as a member of the object around it; empty if there is
    /// none.
    package var typeNote: ArraySlice<UInt8> {
        let start = self.range.upperBound
        let rest = self.bytes[start...].prefix(Self.note.count + Self.nameLimit + 1)
        guard rest.starts(with: Self.note),
            let end = rest.dropFirst(Self.note.count).firstIndex(of: UInt8(ascii: "\""))
        else { return [] }
        return self.bytes[start...end]
    }

    /// The name of the type that the value had, if that stands behind it.
    var notedType: String? {
        let name = self.typeNote.dropFirst(Self.note.count).dropLast()
        return !name.isEmpty && Self.isName(name) ? String(decoding: name, as: UTF8.self) : nil
    }

    /// Whether bytes need no escape in JSON, and are one short line.
    private static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.count <= Self.nameLimit
            && bytes.allSatisfy {
                (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
    }
}
