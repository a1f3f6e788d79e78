/// Parses the path of a pattern without optional groups into segments, and each segment into pieces.
struct SegmentParser {
    struct Failure: Error {
        let message: String
    }

    private let path: [UInt8]
    private let conventions: RoutingConventions
    private var index = 0
    private var literal: [UInt8] = []
    private var pieces: [PatternPiece] = []
    private var result: [PatternSegment] = []
    /// The work that the parser may still do for regular expressions; nil when they are not allowed.
    private(set) var budget: RegexBudget?
    private let known: [ExactText: RegularExpression]

    init(
        _ path: [UInt8],
        _ conventions: RoutingConventions,
        budget: RegexBudget?,
        known: [ExactText: RegularExpression]
    ) {
        self.path = path
        self.conventions = conventions
        self.budget = budget
        self.known = known
    }

    mutating func segments() throws(Failure) -> [PatternSegment] {
        while self.index < self.path.count {
            if self.path[self.index] == UInt8(ascii: "/") {
                self.endSegment()
                self.index += 1
            } else if try !self.readWhole(), try !self.readValue() {
                self.readText()
            }
        }
        self.endSegment()
        return self.result
    }

    /// The end of the current segment, for placeholders that cannot contain a slash.
    private var segmentEnd: Int {
        self.path[self.index...].firstIndex(of: UInt8(ascii: "/")) ?? self.path.count
    }

    private var isAtStart: Bool { self.literal.isEmpty && self.pieces.isEmpty }

    /// Parses a form that must be a whole segment: a catch-all segment, or a placeholder of some conventions.
    ///
    /// Returns false when the segment has another form.
    private mutating func readWhole() throws(Failure) -> Bool {
        guard self.isAtStart else { return false }
        let segment = self.path[self.index..<self.segmentEnd]
        switch self.conventions.placeholders {
        case .none: return false
        case .colon:
            guard segment.first == UInt8(ascii: ":") else { return false }
            let name = PercentCoding.text(self.path.span, segment.startIndex + 1..<segment.endIndex)
            self.result.append(.placeholder(name))
        case .angleBrackets:
            guard self.conventions.placeholdersSpanSegments, let end = self.angleEnd(),
                end == segment.endIndex
            else { return false }
            self.result.append(.rest(self.string(self.index + 1, end - 1)))
        case .all:
            guard let name = self.restName(segment) else { return false }
            self.result.append(.rest(name))
        }
        self.index = segment.endIndex
        return true
    }

    /// Returns the name of a catch-all segment in `**name`, `*name` or `<path:name>`; `**` for `**` alone.
    private func restName(_ segment: ArraySlice<UInt8>) -> String? {
        guard let first = segment.first, first == UInt8(ascii: "*") || first == UInt8(ascii: "<") else {
            return nil
        }
        let text = String(decoding: segment, as: UTF8.self)
        if text == "**" { return "**" }
        var name = Substring(text)
        if text.hasPrefix("*") {
            name = name.dropFirst(text.hasPrefix("**") ? 2 : 1)
        } else if text.hasPrefix("<path:"), text.hasSuffix(">") {
            name = name.dropFirst(6).dropLast()
        } else {
            return nil
        }
        return Self.isName(name.utf8) ? String(name) : nil
    }

    /// Parses a placeholder or wildcard at the index, or returns false when none begins at the index.
    private mutating func readValue() throws(Failure) -> Bool {
        switch (self.path[self.index], self.conventions.placeholders) {
        case (UInt8(ascii: "<"), .angleBrackets):
            guard let end = self.angleEnd() else { return false }
            self.append(self.string(self.index + 1, end - 1), constraint: PatternConstraint.none, end: end)
        case (UInt8(ascii: "<"), .all): return try self.readTyped()
        case (UInt8(ascii: ":"), .all):
            let end = self.nameEnd(self.index + 1)
            guard end > self.index + 1 else { return false }
            let name = self.string(self.index + 1, end)
            guard let close = Self.regexEnd(self.path, at: self.index) else {
                self.append(name, constraint: PatternConstraint.none, end: end)
                return true
            }
            let text = self.expression(end + 1, close - 1)
            self.append(name, constraint: .regex(try self.regularExpression(text, of: name)), end: close)
        case (UInt8(ascii: "{"), .all):
            let end = self.nameEnd(self.index + 1)
            guard end > self.index + 1, end < self.path.count, self.path[end] == UInt8(ascii: "}") else {
                return false
            }
            self.append(self.string(self.index + 1, end), constraint: PatternConstraint.none, end: end + 1)
        case (UInt8(ascii: "*"), .all):
            var end = self.index
            while end < self.path.count, self.path[end] == UInt8(ascii: "*") { end += 1 }
            self.append(nil, constraint: PatternConstraint.none, end: end)
        default: return false
        }
        return true
    }

    private mutating func regularExpression(
        _ text: String,
        of name: String
    ) throws(Failure) -> RegularExpression {
        if let known = self.known[ExactText(RegularExpression.source(of: text))] { return known }
        guard var budget = self.budget else {
            throw Failure(
                message: "a pattern from a peer cannot contain a regular expression: remove it, or set "
                    + "`RoutingLimits.allowsExpressionsOfPeers` in the program that receives it"
            )
        }
        defer { self.budget = budget }
        do {
            return try RegularExpression(text, budget: &budget)
        } catch {
            throw Failure(message: "the regular expression of `\(name)` is invalid: \(error.message)")
        }
    }

    /// Parses `<name>` or `<type:name>`, or returns false when the text has another form.
    private mutating func readTyped() throws(Failure) -> Bool {
        var end = self.nameEnd(self.index + 1)
        guard end > self.index + 1, end < self.path.count else { return false }
        var name = self.string(self.index + 1, end)
        var constraint = PatternConstraint.none
        if self.path[end] == UInt8(ascii: ":") {
            let type = name
            let start = end + 1
            end = self.nameEnd(start)
            guard end > start, end < self.path.count, self.path[end] == UInt8(ascii: ">") else {
                return false
            }
            name = self.string(start, end)
            if type == "path" { throw Failure(message: "`<path:\(name)>` must be a whole segment") }
            guard let known = PatternConstraint.named(type) else {
                throw Failure(
                    message: "`\(type)` is not a type; the types are string, int, double, bool, uuid and path"
                )
            }
            constraint = known
        }
        guard self.path[end] == UInt8(ascii: ">") else { return false }
        self.append(name, constraint: constraint, end: end + 1)
        return true
    }

    private mutating func append(_ name: String?, constraint: PatternConstraint, end: Int) {
        self.index = end
        let isWhole = self.isAtStart && (end == self.path.count || self.path[end] == UInt8(ascii: "/"))
        if isWhole, case .none = constraint {
            self.result.append(name.map { .placeholder($0) } ?? .any)
            return
        }
        self.endLiteral()
        self.pieces.append(.value(name: name, constraint))
    }

    private mutating func readText() {
        let (byte, length) = PercentCoding.byte(self.path.span, index: self.index, end: self.path.count)
        self.literal.append(byte)
        self.index += length
    }

    private mutating func endLiteral() {
        if !self.literal.isEmpty { self.pieces.append(.literal(self.literal)) }
        self.literal = []
    }

    private mutating func endSegment() {
        if self.pieces.isEmpty {
            if !self.literal.isEmpty { self.result.append(.literal(self.literal)) }
            self.literal = []
            return
        }
        self.endLiteral()
        self.result.append(.compound(self.pieces))
        self.pieces = []
    }

    private func string(_ start: Int, _ end: Int) -> String {
        String(decoding: self.path[start..<end], as: UTF8.self)
    }

    /// Returns the text of a regular expression.
    ///
    /// A percent-encoded character is escaped with a backslash, so that it is matched literally.
    private func expression(_ start: Int, _ end: Int) -> String {
        var text: [UInt8] = []
        var index = start
        while index < end {
            let (byte, length) = PercentCoding.byte(self.path.span, index: index, end: end)
            if length > 1, byte < 0x80, !ASCII.isNameTail(byte) { text.append(UInt8(ascii: "\\")) }
            text.append(byte)
            index += length
        }
        return String(decoding: text, as: UTF8.self)
    }

    private func nameEnd(_ start: Int) -> Int { Self.nameEnd(self.path, start) }

    /// Returns the end of `<word>`, for conventions that have only this placeholder.
    private func angleEnd() -> Int? {
        guard self.path[self.index] == UInt8(ascii: "<") else { return nil }
        var end = self.index + 1
        while end < self.path.count, ASCII.isNameTail(self.path[end]) { end += 1 }
        guard end > self.index + 1, end < self.path.count, self.path[end] == UInt8(ascii: ">") else {
            return nil
        }
        return end + 1
    }

    private static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        guard let first = bytes.first, ASCII.isNameHead(first) else { return false }
        return bytes.allSatisfy(ASCII.isNameTail)
    }

    private static func nameEnd(_ path: [UInt8], _ start: Int) -> Int {
        guard start < path.count, ASCII.isNameHead(path[start]) else { return start }
        return path[start...].firstIndex { !ASCII.isNameTail($0) } ?? path.count
    }

    /// Returns the end of `:name(...)`, or nil when no name with a regular expression begins at the index.
    static func regexEnd(_ path: [UInt8], at index: Int) -> Int? {
        guard path[index] == UInt8(ascii: ":") else { return nil }
        let open = self.nameEnd(path, index + 1)
        guard open > index + 1, open + 1 < path.count, path[open] == UInt8(ascii: "("),
            path[open + 1] != UInt8(ascii: "/")
        else { return nil }
        var index = open + 1
        var depth = 1
        var isInSet = false
        while index < path.count {
            switch path[index] {
            case UInt8(ascii: "\\"): index += 1
            case UInt8(ascii: "["):
                if !isInSet {
                    isInSet = true
                    // A `]` directly after the opening bracket is a member of the set.
                    if index + 1 < path.count, path[index + 1] == UInt8(ascii: "^") { index += 1 }
                    if index + 1 < path.count, path[index + 1] == UInt8(ascii: "]") { index += 1 }
                }
            case UInt8(ascii: "]"): isInSet = false
            case UInt8(ascii: "(") where !isInSet: depth += 1
            case UInt8(ascii: ")") where !isInSet:
                depth -= 1
                if depth == 0 { return index + 1 }
            default: break
            }
            index += 1
        }
        return nil
    }
}
