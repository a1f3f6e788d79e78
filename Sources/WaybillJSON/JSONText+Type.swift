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
        let text = try JSONText(encoding: value)
        let name = value is any EncodedValue ? text.notedType : TypeName.of(value: value)
        guard let name, Self.isName(name.utf8) else {
            self = text
            return
        }
        self.init(
            bytes: Array(text.slice) + Self.note + Array(name.utf8) + [UInt8(ascii: "\"")],
            range: 0..<text.range.count
        )
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
