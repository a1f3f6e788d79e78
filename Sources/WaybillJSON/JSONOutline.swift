/// The ranges of the values in the first levels of a text.
///
/// The pass that validates the text also records the ranges. A JSON-RPC message is read level by level: first
/// its members, then the members of `params`, and then their values. Without an outline, the reader of each
/// level would have to search again for the ends of the values on that level.
package final class JSONOutline: Sendable {
    let text: JSONText
    let places: [Place]
    /// Whether all bytes are ASCII.
    let isASCII: Bool

    /// The range of a value.
    ///
    /// In `places`, the recorded children of an object or array follow the place of the object or array, up
    /// to the index ``next``.
    struct Place {
        /// The name of a member, with its quotation marks; empty for an element of an array and for the whole
        /// text.
        let name: Range<UInt32>
        let start: UInt32
        var end: UInt32
        /// The index of the first place after the value and its children.
        var next: UInt32
    }

    /// Validates a text and creates its outline.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - depthLimit: The limit on the nesting of arrays and objects.
    ///   - levels: The number of levels of objects and arrays whose children are recorded. For deeper objects
    ///     and arrays, ``JSONNode/forEachChild(_:)`` scans the text.
    /// - Throws: The errors of ``JSONText/validated(depthLimit:)``, and `tooLong`.
    package init(_ text: JSONText, depthLimit: Int, levels: Int) throws(JSONError) {
        (self.text, self.places, self.isASCII) = try JSONScanner.outlined(
            text,
            depthLimit: depthLimit,
            levels: levels
        )
    }

    /// The whole text as a node.
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

    /// The text of the value.
    package var text: JSONText { self.outline.text[self.range] }

    /// The memory that the outline uses for the value and its recorded children, in bytes.
    package var outlineMemory: Int {
        (Int(self.place.next) - self.index) * MemoryLayout<JSONOutline.Place>.stride
    }

    /// The kind of the value.
    package var shape: JSONText.Kind { JSONText.Kind(self.outline.text.bytes[Int(self.place.start)]) }

    /// The name of a member; empty for any other node.
    package var name: String {
        let name = self.place.name
        if name.isEmpty { return "" }
        return self.outline.string(at: Int(name.lowerBound)..<Int(name.upperBound))
    }

    /// Returns whether the node is an object's member with the given name.
    package func isNamed(_ name: String) -> Bool {
        let own = self.place.name
        if own.isEmpty { return false }
        return self.outline.text.says(name, at: Int(own.lowerBound)..<Int(own.upperBound))
    }

    /// Returns whether the value is a JSON string with the given content.
    package func says(_ text: String) -> Bool { self.outline.text.says(text, at: self.range) }

    /// The content of a JSON string; nil for any other value.
    package var string: String? { self.shape == .string ? self.outline.string(at: self.range) : nil }

    package var isObject: Bool { self.shape == .object }

    package var isArray: Bool { self.shape == .array }

    /// The number of an object's members or an array's elements.
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

    /// The same value as a node of an outline that contains the children of the value.
    private var withNotes: JSONNode {
        let place = self.place
        guard place.next == self.index + 1, place.end - place.start > "{}".utf8.count, isObject || isArray
        else { return self }
        return (try? JSONOutline(self.text, depthLimit: .max, levels: 1))?.root ?? self
    }

    /// Returns an object's member.
    ///
    /// If several members have the name, returns the first one, like ``JSONText/member(named:)``.
    package subscript(name: String) -> JSONNode? {
        var found: JSONNode?
        self.forEachChild { if found == nil, $0.isNamed(name) { found = $0 } }
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
        // The text was validated as UTF-8, and a quotation mark is never a part of a longer character.
        let characters = unsafe UTF8Span(unchecked: bytes, isKnownASCII: self.isASCII)
        return String(copying: characters)
    }
}
