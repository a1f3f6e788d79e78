internal import WaybillRouting

/// Generates values as text, for the types that handlers declare.
struct ValueSamples {
    var generator: SeededGenerator

    /// Returns text that can be decoded as a type; nil if no text can be generated for the type.
    mutating func text(of type: String) -> String? {
        switch Self.plain(type) {
        case "Int", "Int64", "int": "\(Int64.random(in: -999_999...999_999, using: &self.generator))"
        case "Int8": "\(Int8.random(in: .min ... .max, using: &self.generator))"
        case "Int16", "Int32": "\(Int16.random(in: .min ... .max, using: &self.generator))"
        case "UInt8": "\(UInt8.random(in: .min ... .max, using: &self.generator))"
        case "UInt", "UInt16", "UInt32", "UInt64":
            "\(UInt16.random(in: .min ... .max, using: &self.generator))"
        case "Double", "Float", "CGFloat", "double":
            "\(Int.random(in: -9_999...9_999, using: &self.generator)).25"
        case "Bool", "bool": Bool.random(using: &self.generator) ? "true" : "false"
        case "String", "Substring", "string", "regex": self.word()
        case "path": "\(self.word())/\(self.word())"
        case "Character": String(self.word().prefix(1))
        case "UUID", "uuid": self.uuid()
        case "URL": "https://example.org/\(self.word())"
        case "Date": self.date()
        default: nil
        }
    }

    /// Returns whether values of a type can be generated.
    static func knows(_ type: String) -> Bool {
        var samples = ValueSamples(generator: SeededGenerator(seed: 0))
        return samples.text(of: type) != nil
    }

    /// Returns the name of a type without its module, and without the optional or the array around it.
    private static func plain(_ type: String) -> String {
        var type = type[...]
        if type.hasSuffix("?") { type = type.dropLast() }
        if type.hasPrefix("["), type.hasSuffix("]"), !type.contains(":") {
            type = type.dropFirst().dropLast()
        }
        for module in ["Swift.", "Foundation.", "FoundationEssentials."] where type.hasPrefix(module) {
            type = type.dropFirst(module.count)
        }
        return String(type)
    }

    mutating func word() -> String {
        let count = Int.random(in: 3...10, using: &self.generator)
        return self.letters(count, of: "abcdefghijklmnopqrstuvwxyz")
    }

    private mutating func uuid() -> String {
        [8, 4, 4, 4, 12].map { self.letters($0, of: "0123456789abcdef") }.joined(separator: "-")
    }

    private mutating func date() -> String {
        let (year, month) = (self.number(1990...2040), self.number(1...12))
        let (day, hour, minute) = (self.number(1...28), self.number(0...23), self.number(0...59))
        return "\(year)-\(month)-\(day)T\(hour):\(minute):00Z"
    }

    private mutating func number(_ range: ClosedRange<Int>) -> String {
        let text = "\(Int.random(in: range, using: &self.generator))"
        return text.count < 2 ? "0\(text)" : text
    }

    private mutating func letters(_ count: Int, of alphabet: String) -> String {
        String((0..<count).compactMap { _ in alphabet.randomElement(using: &self.generator) })
    }
}
