/// A number that a match carries beside its URL, with its name: the first value of a typed URL, which becomes
/// text when the text is asked for, or the one argument of a call.
///
/// It lies in the words of the captures, which the match of a URL without placeholders does not need, so that
/// such a message allocates nothing.
@usableFromInline
package struct InlineNumber: Sendable {
    /// Where the number belongs.
    package enum Place: Sendable {
        /// To the query of the URL, which has no other item.
        case query
        /// To the values that are passed with the call.
        case call
    }

    private let name: Name
    let number: Int
    let place: Place

    /// A name of at most 15 bytes, in two words.
    private struct Name: Sendable, Equatable {
        var (low, high): (UInt64, UInt64)

        static var capacity: Int { 15 }
        private static var countShift: UInt64 { 56 }

        @inline(__always)
        init(low: UInt64, high: UInt64) { (self.low, self.high) = (low, high) }

        /// Packs a name; one that is too long is like no other.
        @inline(__always)
        init(_ text: borrowing String) {
            let bytes = text.utf8.span
            let count = bytes.count
            self.high = UInt64(min(count, Int(UInt8.max))) &<< Self.countShift
            if count < 8 {
                self.low = ByteWord.few(bytes)
            } else {
                self.low = ByteWord.eight(bytes, at: 0)
                // The bytes behind the first eight, without those that have been loaded twice.
                if count > 8, count <= Self.capacity {
                    self.high |= ByteWord.last(bytes) &>> UInt64((16 &- count) &* 8)
                }
            }
        }

        @inline(__always)
        private var count: Int { Int(self.high &>> Self.countShift) }

        /// Whether there is a name, and all of it.
        @inline(__always)
        var isKept: Bool { self.count > 0 && self.count <= Self.capacity }

        var text: String {
            let count = self.count
            return String(decoding: (0..<count).map(self.byte(at:)), as: UTF8.self)
        }

        private func byte(at index: Int) -> UInt8 {
            let word = index < 8 ? self.low : self.high
            return UInt8(truncatingIfNeeded: word &>> UInt64(index & 7 &* 8))
        }
    }

    /// Makes a number of a name; nil if the name is empty or too long to be kept here.
    package init?(_ name: borrowing String, _ number: Int, in place: Place) {
        self.name = Name(name)
        guard self.name.isKept else { return nil }
        self.number = number
        self.place = place
    }

    /// The number that lies in captures.
    @inline(__always)
    init(_ captures: Captures, in place: Place) {
        let words = captures.words
        self.name = Name(low: words.0, high: words.1)
        self.number = Int(truncatingIfNeeded: Int64(bitPattern: words.2))
        self.place = place
    }

    @inline(__always)
    var captures: Captures {
        Captures(self.name.low, self.name.high, UInt64(bitPattern: Int64(self.number)))
    }

    /// Whether it has a name.
    @inline(__always)
    func isNamed(_ name: String) -> Bool { self.name == Name(name) }

    /// The query item of the URL, with the mark before it.
    var queryText: String { "?\(Address.encode(self.name.text))=\(self.number)" }

    /// The number as a value that is passed with a call.
    var passed: PassedValues { PassedValues(self.name.text, number: self.number, over: nil) }

    /// How many bytes the query item may have at most: each byte of the name encoded, a sign and nineteen
    /// digits.
    static var longestQueryText: Int { 2 + 3 * Name.capacity + 20 }
}
