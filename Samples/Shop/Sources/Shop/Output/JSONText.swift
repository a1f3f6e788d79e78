/// JSON that is being written: the bytes so far, and the open brackets.
struct JSONText {
    /// The written bytes.
    private(set) var bytes: [UInt8] = []
    private var brackets: [Bracket] = []

    private struct Bracket {
        let closer: UInt8
        var isEmpty = true
    }

    /// The number of open brackets.
    var depth: Int { self.brackets.count }

    mutating func removeAll() {
        self.bytes.removeAll(keepingCapacity: true)
        self.brackets.removeAll(keepingCapacity: true)
    }

    mutating func openObject() {
        self.bytes.append(UInt8(ascii: "{"))
        self.brackets.append(Bracket(closer: UInt8(ascii: "}")))
    }

    mutating func openList() {
        self.bytes.append(UInt8(ascii: "["))
        self.brackets.append(Bracket(closer: UInt8(ascii: "]")))
    }

    /// Closes the brackets below a depth.
    mutating func close(to depth: Int) {
        while self.brackets.count > depth, let bracket = self.brackets.popLast() {
            self.bytes.append(bracket.closer)
        }
    }

    /// Begins the next element of the bracket at a depth, and closes the brackets below it.
    mutating func beginElement(at depth: Int) {
        self.close(to: depth)
        guard let last = self.brackets.indices.last else { return }
        if !self.brackets[last].isEmpty { self.bytes.append(UInt8(ascii: ",")) }
        self.brackets[last].isEmpty = false
    }

    /// Begins the next member of the object at a depth.
    mutating func beginMember(at depth: Int, key: String) {
        self.beginElement(at: depth)
        self.write(text: key)
        self.bytes.append(UInt8(ascii: ":"))
    }

    /// Writes a number, a Boolean or null.
    mutating func write(literal: String) { self.bytes.append(contentsOf: literal.utf8) }

    /// Writes text in quotes.
    ///
    /// Control characters, including C1, are escaped, so that a reply cannot control a terminal.
    mutating func write(text: String) {
        self.bytes.append(UInt8(ascii: "\""))
        if text.utf8.contains(where: Self.needsCare) {
            for scalar in text.unicodeScalars { self.write(escaping: scalar) }
        } else {
            self.bytes.append(contentsOf: text.utf8)
        }
        self.bytes.append(UInt8(ascii: "\""))
    }

    /// Returns whether a byte may begin a character that is escaped.
    ///
    /// 0xc2 begins the control characters of C1.
    private static func needsCare(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7f
            || byte == 0xc2
    }

    private mutating func write(escaping scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": self.write(literal: #"\""#)
        case "\\": self.write(literal: #"\\"#)
        case "\n": self.write(literal: #"\n"#)
        case "\r": self.write(literal: #"\r"#)
        case "\t": self.write(literal: #"\t"#)
        case _ where scalar.properties.generalCategory == .control:
            let digits = String(scalar.value, radix: 16)
            self.write(literal: #"\u"# + String(repeating: "0", count: 4 - digits.count) + digits)
        default: self.bytes.append(contentsOf: scalar.utf8)
        }
    }
}
