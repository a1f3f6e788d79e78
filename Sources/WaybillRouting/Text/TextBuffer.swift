/// Text that is put together of a few short pieces, and copied once.
///
/// A `String` that grows piece by piece asks at each one whether it is unique, large enough and ASCII, which
/// takes several times what the bytes take.
package struct TextBuffer {
    private var bytes = InlineArray<128, UInt8>(repeating: 0)
    private var count = 0

    /// How many bytes it has room for.
    package static var capacity: Int { 128 }

    @inline(__always)
    package init() {}

    /// Adds text that there is room for.
    @inline(__always)
    package mutating func add(_ text: String) {
        let text = text.utf8.span
        precondition(self.count &+ text.count <= Self.capacity, "there is no room for the text")
        let start = self.count
        var bytes = self.bytes.mutableSpan
        // There is room for it, and the two are different memory.
        unsafe bytes.withUnsafeMutableBytes { target in
            unsafe text.withUnsafeBytes { source in
                guard let target = target.baseAddress, let source = source.baseAddress else { return }
                unsafe (target + start).copyMemory(from: source, byteCount: text.count)
            }
        }
        self.count &+= text.count
    }

    /// Adds an ASCII character.
    @inline(__always)
    package mutating func add(_ byte: UInt8) {
        self.bytes[self.count] = byte
        self.count &+= 1
    }

    /// Adds a number as decimal digits; 20 bytes at most.
    @inline(__always)
    package mutating func add(_ number: Int) {
        if number < 0 { self.add(UInt8(ascii: "-")) }
        var rest = number.magnitude
        let start = self.count
        repeat {
            self.add(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        var (first, last) = (start, self.count &- 1)
        while first < last {
            (self.bytes[first], self.bytes[last]) = (self.bytes[last], self.bytes[first])
            first &+= 1
            last &-= 1
        }
    }

    /// A URL with a number more in its query; nil if it does not fit in.
    ///
    /// Whole functions for other modules: what is `package` is not inlined into them (Swift 6.3).
    package static func url(_ url: String, _ mark: Unicode.Scalar, _ name: String, _ number: Int) -> String? {
        let name = Address.encode(name)
        guard url.utf8.count &+ name.utf8.count &+ 22 <= Self.capacity else { return nil }
        var buffer = Self(url, mark, name)
        buffer.add(number)
        return buffer.text
    }

    /// A URL with a text more in its query; nil if it does not fit in.
    package static func url(_ url: String, _ mark: Unicode.Scalar, _ name: String, _ text: String) -> String?
    {
        let (name, value) = (Address.encode(name), Address.encode(text))
        guard url.utf8.count &+ name.utf8.count &+ value.utf8.count &+ 2 <= Self.capacity else {
            return nil
        }
        var buffer = Self(url, mark, name)
        buffer.add(value)
        return buffer.text
    }

    @inline(__always)
    private init(_ url: String, _ mark: Unicode.Scalar, _ name: String) {
        self.add(url)
        self.add(UInt8(ascii: mark))
        self.add(name)
        self.add(UInt8(ascii: "="))
    }

    /// The text; empty if what was added is no UTF-8, which texts and characters are.
    @inline(__always)
    package var text: String {
        guard let text = try? UTF8Span(validating: self.bytes.span.extracting(..<self.count)) else {
            return ""
        }
        return String(copying: text)
    }
}
