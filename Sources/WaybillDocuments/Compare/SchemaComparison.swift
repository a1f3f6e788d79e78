/// Compares the schemas of two documents.
///
/// In a request, a schema that accepts fewer values breaks callers. In a reply, a schema that allows more
/// values breaks callers.
struct SchemaComparison {
    private let old: [String: ValueSchema]
    private let new: [String: ValueSchema]
    private let isRequest: Bool
    private var found: [Difference] = []
    /// The pairs of types that have been compared, so that recursive types are not compared without end.
    private var seen: Set<[String]> = []
    private var depth = 0

    /// The maximum number of schemas that contain each other; a document may come from another program.
    private static let maximumDepth = 1000

    /// The keywords that this comparison understands.
    private static let known: Set<String> = [
        "$ref", "additionalProperties", "allOf", "anyOf", "const", "contentEncoding", "enum", "format",
        "items", "maximum", "maxItems", "maxLength", "minimum", "minItems", "minLength", "oneOf", "pattern",
        "properties", "propertyNames", "required", "type",
    ]

    /// The keywords that describe a value and do not limit it.
    private static let annotations: Set<String> = [
        "$comment", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly",
    ]

    init(old: [String: ValueSchema], new: [String: ValueSchema], isRequest: Bool) {
        self.old = old
        self.new = new
        self.isRequest = isRequest
    }

    struct Difference: Hashable {
        let isBreaking: Bool
        let message: String
    }

    /// Returns the differences between two schemas.
    func differences(_ old: ValueSchema, _ new: ValueSchema, at place: String) -> [Difference] {
        var comparison = self
        comparison.compare(old.tree, new: new.tree, place: place)
        return comparison.found
    }

    /// Records a change after which fewer values are allowed.
    private mutating func narrowed(_ message: String) {
        self.found.append(Difference(isBreaking: self.isRequest, message: message))
    }

    /// Records a change after which more values are allowed.
    private mutating func widened(_ message: String) {
        self.found.append(Difference(isBreaking: !self.isRequest, message: message))
    }

    private mutating func breaking(_ message: String) {
        self.found.append(Difference(isBreaking: true, message: message))
    }

    private mutating func compare(_ old: JSONTree, new: JSONTree, place: String) {
        self.depth += 1
        defer { self.depth -= 1 }
        if self.depth > Self.maximumDepth {
            return self.breaking("the schema is nested too deeply, and is compared only to a part")
        }
        let before = PlainSchema(old, self.old)
        let now = PlainSchema(new, self.new)
        // An opaque value may be null as well.
        if before.isNullable, !now.isNullable, now.type != nil {
            self.narrowed("\(place) \(self.isRequest ? "may not be null any more" : "is never null now")")
        }
        if !before.isNullable, now.isNullable, before.type != nil { self.widened("\(place) may be null now") }
        // Whether a reference may be null differs from place to place, so the check above is never omitted.
        if let first = before.name, let second = now.name, !self.seen.insert([first, second]).inserted {
            return
        }
        if before.type != now.type {
            self.compareTypes(before, now: now, place: place)
            guard before.isNumber, now.isNumber else { return }
        }
        if let first = before.options, let second = now.options {
            self.compareOptions(
                UnionOptions(first, self.old),
                now: UnionOptions(second, self.new),
                place: place
            )
            return
        }
        self.compareValues(before.tree, now: now.tree, place: place)
        self.compareBounds(before.tree, now: now.tree, place: place)
        self.compareMembers(before.tree, now: now.tree, place: place)
        self.compareElements(before.tree, now: now.tree, place: place)
        self.compareParts(before.tree, now: now.tree, place: place)
        self.compareOtherKeywords(before.tree, now: now.tree, place: place)
    }

    /// Compares the schemas of which all describe a value.
    private mutating func compareParts(_ before: JSONTree, now: JSONTree, place: String) {
        let (first, second) = (before["allOf"]?.elements ?? [], now["allOf"]?.elements ?? [])
        if first.count != second.count { return self.breaking("\(place) has another number of schemas now") }
        for (old, new) in zip(first, second) { self.compare(old, new: new, place: place) }
    }

    /// Compares the keywords of a schema that a type declares itself, whose meaning is not known here.
    private mutating func compareOtherKeywords(_ before: JSONTree, now: JSONTree, place: String) {
        let keywords = Set((before.members ?? [:]).keys).union((now.members ?? [:]).keys)
        for name in keywords.subtracting(Self.known).subtracting(Self.annotations).sorted()
        where !name.hasPrefix("x-") && before[name] != now[name] {
            self.breaking("\(place) has another \(name)")
        }
    }

    /// Compares the elements of arrays, and the values of objects whose keys are not known.
    private mutating func compareElements(_ before: JSONTree, now: JSONTree, place: String) {
        if before["items"] != nil || now["items"] != nil {
            self.compare(before["items"] ?? [:], new: now["items"] ?? [:], place: "an element of \(place)")
        }
        let keys = "propertyNames"
        self.compareValues(before[keys] ?? [:], now: now[keys] ?? [:], place: "a key of \(place)")
        let name = "additionalProperties"
        switch (before[name] == false, now[name] == false) {
        case (true, true): return
        case (true, false): return self.widened("\(place) may have other members now")
        case (false, true): return self.narrowed("\(place) has only known members now")
        case (false, false): break
        }
        guard let value = before[name] else {
            guard let other = now[name], before["properties"] == nil else { return }
            return self.compare([:], new: other, place: "a value of \(place)")
        }
        guard let members = now["properties"]?.members, now[name] == nil else {
            return self.compare(value, new: now[name] ?? [:], place: "a value of \(place)")
        }
        self.narrowed("\(place) has only known members now")
        for (key, member) in members.sorted(by: { $0.key < $1.key }) {
            self.compare(value, new: member, place: "`\(key)` of \(place)")
        }
    }

    private mutating func compareOptions(_ before: UnionOptions, now: UnionOptions, place: String) {
        if before.tag != now.tag {
            return self.breaking("another property distinguishes the options of \(place) now")
        }
        for (name, option) in before.options.sorted(by: { $0.key < $1.key }) {
            if let other = now.options[name] {
                self.compare(option, new: other, place: "the option `\(name)` of \(place)")
            } else {
                self.narrowed("\(place) is no longer the option `\(name)`")
            }
        }
        for name in now.options.keys.sorted() where before.options[name] == nil {
            self.widened("\(place) may be the option `\(name)` now")
        }
    }

    private mutating func compareTypes(_ before: PlainSchema, now: PlainSchema, place: String) {
        guard let first = before.type else {
            return self.narrowed("\(place) is now known to be \(now.type ?? "")")
        }
        guard let second = now.type else { return self.widened("\(place) is opaque now, and was \(first)") }
        let message = "\(place) is \(second) now, and was \(first)"
        switch (first, second) {
        case ("integer", "number"): self.widened(message)
        case ("number", "integer"): self.narrowed(message)
        default: self.breaking(message)
        }
    }

    /// Compares the values of enumerations, and the formats and patterns of strings.
    private mutating func compareValues(_ before: JSONTree, now: JSONTree, place: String) {
        let first = Self.values(of: before)
        let second = Self.values(of: now)
        switch (first, second) {
        case (let first?, let second?):
            for value in first where !second.contains(value) {
                self.narrowed("\(place) is no longer \(value.written(isPretty: false))")
            }
            for value in second where !first.contains(value) {
                self.widened("\(place) may be \(value.written(isPretty: false)) now")
            }
        case (nil, .some): self.narrowed("\(place) is one of a list now")
        case (.some, nil): self.widened("\(place) is no longer one of a list")
        case (nil, nil): break
        }
        if before["contentEncoding"] != now["contentEncoding"] {
            self.breaking("\(place) has another encoding: \(now["contentEncoding"]?.text ?? "none")")
        }
        for name in ["format", "pattern", "x-waybill-regex"]
        where before[name] != now[name] {
            // The format of a number describes only how the number is stored. `compareBounds` compares the
            // bounds.
            if name == "format", before["type"] != "string", now["type"] != "string" { continue }
            let words = name.replacing("x-waybill-", with: "")
            if before[name] == nil {
                self.narrowed("\(place) has the \(words) \(now[name]?.text ?? "") now")
            } else if now[name] == nil {
                self.widened("\(place) has no \(words) any more")
            } else {
                self.breaking("\(place) has another \(words): \(now[name]?.text ?? "")")
            }
        }
    }

    /// Returns the values of an enumeration or a constant; nil for other schemas.
    private static func values(of schema: JSONTree) -> [JSONTree]? {
        schema["enum"]?.elements?.filter { $0 != .null } ?? schema["const"].map { [$0] }
    }

    private mutating func compareBounds(_ before: JSONTree, now: JSONTree, place: String) {
        // A list of values has no bounds, and the comparison of the values covers the bounds of other schemas.
        if Self.values(of: now) != nil { return }
        if let values = Self.values(of: before) {
            let numbers = values.compactMap(\.double)
            let range = (now["minimum"]?.double ?? -.infinity, now["maximum"]?.double ?? .infinity)
            if !numbers.allSatisfy({ $0 >= range.0 && $0 <= range.1 }) {
                self.narrowed("the minimum or the maximum of \(place) excludes earlier values now")
            }
            return
        }
        for name in ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"] {
            let isLower = name.hasPrefix("min")
            let unbounded = isLower ? -Double.infinity : Double.infinity
            let (first, second) = (before[name]?.double ?? unbounded, now[name]?.double ?? unbounded)
            if first == second { continue }
            let message = "the \(name) of \(place) is \(now[name]?.written(isPretty: false) ?? "none") now"
            if isLower == (second > first) { self.narrowed(message) } else { self.widened(message) }
        }
    }

    private mutating func compareMembers(_ before: JSONTree, now: JSONTree, place: String) {
        let (first, second) = (before["properties"]?.members ?? [:], now["properties"]?.members ?? [:])
        let required = Set((before["required"]?.elements ?? []).compactMap(\.text))
        let requiredNow = Set((now["required"]?.elements ?? []).compactMap(\.text))
        for (name, schema) in first.sorted(by: { $0.key < $1.key }) {
            let member = "`\(name)` of \(place)"
            guard let other = second[name] else {
                // In a request, the server ignores the removed member. However, callers that send the member
                // expect an effect.
                self.breaking("\(member) is gone")
                continue
            }
            let (was, isNow) = (required.contains(name), requiredNow.contains(name))
            if !was, isNow { self.narrowed("\(member) is required now") }
            if was, !isNow { self.widened("\(member) may be missing now") }
            // If a member may be missing, it may also be null. The message above covers null, so `compare`
            // ignores null.
            let hasSaid = was != isNow
            self.compare(
                hasSaid ? ValueSchema(schema).withoutNull.tree : schema,
                new: hasSaid ? ValueSchema(other).withoutNull.tree : other,
                place: member
            )
        }
        for name in required.symmetricDifference(requiredNow).sorted()
        where first[name] == nil && second[name] == nil {
            if requiredNow.contains(name) {
                self.narrowed("`\(name)` of \(place) is required now")
            } else {
                self.widened("`\(name)` of \(place) may be missing now")
            }
        }
        for name in second.keys.sorted() where first[name] == nil {
            let member = "`\(name)` of \(place)"
            if requiredNow.contains(name), self.isRequest {
                self.breaking("\(member) is new, and required")
            } else {
                self.found.append(Difference(isBreaking: false, message: "\(member) is new"))
            }
        }
    }
}

/// A schema whose references have been resolved, and from whose type null has been removed.
private struct PlainSchema {
    private(set) var tree: JSONTree
    private(set) var isNullable = false
    /// The name of the type to which the schema refers; nil if the schema is not a reference.
    private(set) var name: String?
    /// The options of a union, without null; nil if the schema is not a union.
    private(set) var options: [JSONTree]?

    init(_ tree: JSONTree, _ schemas: [String: ValueSchema]) {
        self.tree = tree
        // A reference may refer to another reference. The number of steps is limited, because references may
        // form a cycle.
        for _ in 0..<8 {
            if let name = ValueSchema(self.tree).referenced {
                self.name = name
                self.tree = schemas[name]?.tree ?? [:]
            } else if let parts = self.tree["allOf"]?.elements, parts.count == 1 {
                self.tree = parts[0]
            } else if let all = (self.tree["anyOf"] ?? self.tree["oneOf"])?.elements {
                let others = all.filter { $0 != ["type": "null"] }
                self.isNullable = self.isNullable || others.count < all.count
                // A type with `null` as an alternative is written with `anyOf`. A union may have a single
                // option.
                if others.count != 1 || self.tree["oneOf"] != nil {
                    self.options = others
                    break
                }
                self.tree = others[0]
            }
        }
        if self.tree["type"]?.elements?.contains("null") == true {
            self.isNullable = true
            self.tree = ValueSchema(self.tree).withoutNull.tree
        }
    }

    /// The JSON type; nil if the type is not known.
    var type: String? {
        if self.options != nil { return "one of several types" }
        let types = self.tree["type"]?.elements?.compactMap(\.text).sorted().joined(separator: " or ")
        return types ?? self.tree["type"]?.text
    }

    var isNumber: Bool { self.type == "integer" || self.type == "number" }
}

/// The options of a union, by their names.
private struct UnionOptions {
    /// The property whose constant distinguishes the options; nil if there is no such property.
    let tag: String?
    /// The options, by the constants of the tag, or by their positions in a union without a tag.
    let options: [String: JSONTree]

    init(_ options: [JSONTree], _ schemas: [String: ValueSchema]) {
        let members = options.map { PlainSchema($0, schemas).tree["properties"]?.members ?? [:] }
        let texts = { (name: String) in members.compactMap { $0[name]?["const"]?.text } }
        self.tag = members.first?.keys.sorted().first { Set(texts($0)).count == options.count }
        let names = self.tag.map(texts) ?? options.indices.map { "\($0 + 1)" }
        self.options = Dictionary(zip(names, options)) { first, _ in first }
    }
}
