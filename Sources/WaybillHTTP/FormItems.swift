#if HTTP
internal import HTTPTypes
internal import WaybillRouting

/// The items of a form, or of the query of a URL, by name.
package struct FormItems {
    private var texts: [String: [String]] = [:]
    /// The number of items.
    package var count: Int { self.texts.values.reduce(0) { $0 + $1.count } }

    /// Creates items from a text such as `a=1&b=2`, which is percent-encoded.
    ///
    /// - Parameter bytes: The body of a form, or the query of a URL.
    /// - Throws: The problem with the first invalid item.
    package init(_ bytes: [UInt8]) throws(Problem) {
        for item in bytes.split(separator: UInt8(ascii: "&")) {
            let parts = item.split(
                separator: UInt8(ascii: "="),
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            let name = try Self.text(parts[0])
            self.texts[name, default: []].append(parts.count == 2 ? try Self.text(parts[1]) : "")
        }
    }

    /// Returns the text of an item, or nil when no item or several items have the name.
    package subscript(name: String) -> String? {
        guard let texts = self.texts[name], texts.count == 1 else { return nil }
        return texts[0]
    }

    /// The items as values.
    ///
    /// If several items have the same name, the value is an array of their texts.
    package var values: [String: any Sendable] {
        self.texts.mapValues { texts -> any Sendable in
            if texts.count == 1 { return texts[0] }
            return texts
        }
    }

    private static func text(_ part: ArraySlice<UInt8>) throws(Problem) -> String {
        var bytes: [UInt8] = []
        var index = part.startIndex
        while index < part.endIndex {
            let byte = part[index]
            index += 1
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = part[index...].prefix(2)
                guard digits.count == 2, let text = String(validating: digits, as: UTF8.self),
                    !text.utf8.contains(UInt8(ascii: "+")), !text.utf8.contains(UInt8(ascii: "-")),
                    let byte = UInt8(text, radix: 16)
                else { throw Problem(.badRequest, "the form is not percent-encoded") }
                bytes.append(byte)
                index += 2
            default: bytes.append(byte)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Problem(.badRequest, "the form is not UTF-8")
        }
        try Problem.checkMarks(in: text)
        return text
    }
}
#endif
