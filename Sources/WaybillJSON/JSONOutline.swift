/// Where the values of the first levels of a text are, noted in the pass that checks it.
///
/// A message of JSON-RPC is read level by level: its members, those of `params`, those of what is in there.
/// Without an outline each level has its reader look for the ends of all values below it again.
package final class JSONOutline: Sendable {
    let text: JSONText
    let places: [Place]
    /// Whether all bytes are ASCII.
    let isASCII: Bool

    /// Where a value is.
    ///
    /// The noted ones of an object or array stand behind it, up to the next one.
    struct Place {
        /// The name of a member, with its quotation marks; empty for an element, and for the whole.
        let name: Range<UInt32>
        let start: UInt32
        var end: UInt32
        /// The place of the value behind this one.
        var next: UInt32
    }

    /// Checks that text is one value, in UTF-8, that is no deeper than the limit.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - depthLimit: How deep arrays and objects may be nested.
    ///   - levels: How deep objects and arrays are whose values are noted; ``JSONNode/forEachChild(_:)``
    ///     looks for those that are not.
    /// - Throws: What ``JSONText/validated(depthLimit:)`` throws, and `tooLong`.
    package init(_ text: JSONText, depthLimit: Int, levels: Int) throws(JSONError) {
        (self.text, self.places, self.isASCII) = try JSONScanner.outlined(text, depthLimit, levels)
    }

    /// The whole text.
    package var root: JSONNode { JSONNode(outline: self, index: 0) }
}

/// A value of an outline.
package struct JSONNode: Sendable {
    let outline: JSONOutline
    fileprivate let index: Int

    private var place: JSONOutline.Place { self.outline.places[self.index] }

    private var range: Range<Int> {
        let place = self.place
        return Int(place.start)..<Int(place.end)
    }

    /// The value alone.
    package var text: JSONText { self.outline.text[self.range] }

    /// The kind of the value.
    package var shape: JSONText.Kind { JSONText.Kind(self.outline.text.bytes[Int(self.place.start)]) }

    /// The name of a member; empty for what is none.
    package var name: String {
        let name = self.place.name
        if name.isEmpty { return "" }
        return self.outline.string(at: Int(name.lowerBound)..<Int(name.upperBound))
    }

    /// Whether it is the member of a name.
    package func isNamed(_ name: String) -> Bool {
        let own = self.place.name
        if own.isEmpty { return false }
        return self.outline.text.says(name, at: Int(own.lowerBound)..<Int(own.upperBound))
    }

    /// Whether the value is a JSON string that says a text.
    package func says(_ text: String) -> Bool { self.outline.text.says(text, at: self.range) }

    /// The text of a JSON string; nil for any other value.
    package var string: String? { self.shape == .string ? self.outline.string(at: self.range) : nil }

    package var isObject: Bool { self.shape == .object }

    package var isArray: Bool { self.shape == .array }

    /// The number of members of an object, or of elements of an array.
    package var childCount: Int {
        let node = self.withNotes
        let end = Int(node.place.next)
        var (count, index) = (0, node.index + 1)
        while index < end {
            count += 1
            index = Int(node.outline.places[index].next)
        }
        return count
    }

    /// Calls a closure with each member of an object, or each element of an array.
    package func forEachChild<Failure>(_ body: (JSONNode) throws(Failure) -> Void) throws(Failure) {
        let node = self.withNotes
        let end = Int(node.place.next)
        var index = node.index + 1
        while index < end {
            try body(JSONNode(outline: node.outline, index: index))
            index = Int(node.outline.places[index].next)
        }
    }

    /// The same value with its own values noted.
    private var withNotes: JSONNode {
        let place = self.place
        guard place.next == self.index + 1, place.end - place.start > "{}".utf8.count, isObject || isArray
        else { return self }
        return (try? JSONOutline(self.text, depthLimit: .max, levels: 1))?.root ?? self
    }

    /// A member of an object; of several with the name, the last one.
    package subscript(name: String) -> JSONNode? {
        var found: JSONNode?
        self.forEachChild { if $0.isNamed(name) { found = $0 } }
        return found
    }
}

extension JSONOutline {
    fileprivate func string(at range: Range<Int>) -> String {
        let content = (range.lowerBound + 1)..<(range.upperBound - 1)
        let all = self.text.bytes
        let bytes = all.span.extracting(content)
        guard JSONScanner.count(of: bytes, before: UInt8(ascii: "\\")) == bytes.count else {
            return self.text[range].string ?? ""
        }
        // The text was checked as a whole, and no quotation mark is a part of a character.
        let characters = unsafe UTF8Span(unchecked: bytes, isKnownASCII: self.isASCII)
        return String(copying: characters)
    }
}
