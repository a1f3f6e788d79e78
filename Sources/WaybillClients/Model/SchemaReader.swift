internal import WaybillDocuments

/// Converts the schemas of a document to types of a client.
///
/// For an object, an enumeration or a union, the client declares a type. For any other schema, the client
/// uses a built-in type. A schema that the reader does not understand becomes the type of any JSON value, so
/// a client can be generated from every document.
struct SchemaReader {
    private let schemas: [String: JSONTree]
    private var depth = 0
    private var declared: [String: ClientDeclaration] = [:]
    /// The schemas whose declarations have been started.
    ///
    /// A declaration that refers to itself is not started again.
    private var begun: Set<String> = []
    /// The schemas that are currently being replaced by their contents.
    ///
    /// If one of these schemas contains itself, the inner occurrence becomes any JSON value.
    private var replaced: Set<String> = []
    /// The types of the named schemas that need no declaration.
    private var aliases: [String: ClientType] = [:]
    /// The types of the schemas without a name that have been declared.
    private var anonymous: [Position: ClientType] = [:]

    /// A schema without a name, and the name that its position suggests.
    private struct Position: Hashable {
        let name: String
        let tree: JSONTree
    }

    private static let maximumDepth = 500

    private static let prefix = "#/components/schemas/"

    init(_ schemas: [String: JSONTree]) { self.schemas = schemas }

    /// The declared types, in the order of their names.
    var declarations: [ClientDeclaration] { self.declared.values.sorted { $0.name < $1.name } }

    /// Returns the type of a schema.
    ///
    /// If the client must declare a type and the schema has no name, the type has the given name.
    mutating func type(of tree: JSONTree, named name: String) -> ClientType {
        self.depth += 1
        defer { self.depth -= 1 }
        // A document may come from another program, and a stack is limited.
        if self.depth > Self.maximumDepth { return .json }
        let (rest, isNullable) = Self.withoutNull(tree)
        // A value without a type is possible only as a reply or an answer, and not inside of another value.
        if rest["type"] == "null" { return self.depth == 1 ? .nothing : .json }
        let type = self.plainType(of: rest, named: name)
        return isNullable && type != .json && type != .nothing ? .optional(type.unwrapped) : type
    }

    private mutating func plainType(of tree: JSONTree, named name: String) -> ClientType {
        if let only = tree["allOf"]?.elements, only.count == 1 { return self.type(of: only[0], named: name) }
        if let reference = tree["$ref"]?.text {
            guard reference.hasPrefix(Self.prefix) else { return .json }
            return self.type(ofSchema: String(reference.dropFirst(Self.prefix.count)))
        }
        // A type with only one value occurs only in the property that distinguishes the options of a union.
        if tree["const"]?.text != nil { return .text }
        if self.isDeclared(tree, isNamed: false) {
            // A schema that contains itself without a name is read again at the same position.
            let position = Position(name: name, tree: tree)
            if let type = self.anonymous[position] { return type }
            let free = self.freeName(name)
            self.anonymous[position] = .named(free)
            return self.declare(tree, as: free)
        }
        switch tree["type"]?.text {
        case "boolean": return .boolean
        case "string": return Self.text(tree)
        case "integer": return .integer(Self.integer(tree))
        case "number": return tree["format"] == nil ? .decimal : .number
        case "array":
            return .array(tree["items"].map { self.type(of: $0, named: "\(name)_Item") } ?? .json)
        case "object" where tree["properties"] == nil:
            return .dictionary(
                tree["additionalProperties"].map { self.type(of: $0, named: "\(name)_Value") } ?? .json
            )
        default: return .json
        }
    }

    private mutating func type(ofSchema name: String) -> ClientType {
        guard let tree = self.schemas[name] else { return .json }
        if self.isDeclared(tree, isNamed: true) { return self.declare(tree, as: name) }
        if let type = self.aliases[name] { return type }
        guard self.replaced.insert(name).inserted else { return .json }
        let type = self.type(of: tree, named: name)
        self.replaced.remove(name)
        // While other schemas are being replaced, the type may contain one of them as any JSON value.
        if self.replaced.isEmpty { self.aliases[name] = type }
        return type
    }

    private static func text(_ tree: JSONTree) -> ClientType {
        if tree["contentEncoding"] == "base64" { return .bytes }
        return switch tree["format"]?.text {
        case "date-time": .date
        case "uuid": .uuid
        default: .text
        }
    }

    private static func integer(_ tree: JSONTree) -> IntegerType {
        guard case .number(let lowest) = tree["minimum"], case .number(let highest) = tree["maximum"] else {
            return IntegerType(bits: 64, isSigned: true)
        }
        let isSigned = lowest.hasPrefix("-")
        for bits in [8, 16, 32] {
            let count = Int64(1) << bits
            let values = isSigned ? -count / 2..<count / 2 : 0..<count
            if [lowest, highest].allSatisfy({ Int64($0).map(values.contains) == true }) {
                return IntegerType(bits: bits, isSigned: isSigned)
            }
        }
        // A schema whose minimum is not negative and whose maximum has at most 63 bits is an `Int` in Swift.
        return IntegerType(bits: 64, isSigned: isSigned || Int64(highest) != nil)
    }

    /// Returns a schema without null, and whether the original schema permits null.
    private static func withoutNull(_ tree: JSONTree) -> (JSONTree, isNullable: Bool) {
        var rest = tree
        var isNullable = false
        if let types = tree["type"]?.elements {
            let others = types.filter { $0 != "null" }
            isNullable = others.count < types.count
            rest["type"] = others.count == 1 ? others[0] : nil
            if others.isEmpty { rest["type"] = "null" }
        }
        for word in ["anyOf", "oneOf"] {
            guard let options = tree[word]?.elements else { continue }
            let others = options.filter { $0 != ["type": "null"] }
            guard others.count < options.count else { continue }
            isNullable = true
            if others.count == 1 { return (others[0], true) }
            rest[word] = .array(others)
        }
        if let values = rest["enum"]?.elements { rest["enum"] = .array(values.filter { $0 != .null }) }
        return (rest, isNullable)
    }
}

// Declared types.
extension SchemaReader {
    private func isDeclared(_ tree: JSONTree, isNamed: Bool) -> Bool {
        if Self.isOpaque(tree) { return false }
        if self.unionTag(of: tree) != nil { return true }
        if Self.enumeration(of: tree) != nil { return true }
        return tree["type"] == "object"
            && (tree["properties"] != nil || isNamed && tree["additionalProperties"] == nil)
    }

    private static func isOpaque(_ tree: JSONTree) -> Bool { tree["x-waybill-opaque"] != nil }

    private mutating func declare(_ tree: JSONTree, as name: String) -> ClientType {
        guard self.begun.insert(name).inserted else { return .named(name) }
        // A declared type may contain itself, and so may contain the schemas that are being replaced.
        let around = self.replaced
        self.replaced = []
        defer { self.replaced = around }
        let kind: ClientDeclaration.Kind
        if let tag = self.unionTag(of: tree) {
            let options = (tree["oneOf"] ?? tree["anyOf"])?.elements ?? []
            kind = .union(tag: tag, options: options.compactMap { self.option($0, tag: tag, of: name) })
        } else if let enumeration = Self.enumeration(of: tree) {
            kind = enumeration
        } else {
            kind = .object(self.properties(of: tree, in: name))
        }
        let documentation = tree["description"]?.text ?? ""
        self.declared[name] = ClientDeclaration(name: name, documentation: documentation, kind: kind)
        return .named(name)
    }

    private mutating func properties(of tree: JSONTree, in name: String) -> [ClientDeclaration.Property] {
        let required = Set((tree["required"]?.elements ?? []).compactMap(\.text))
        return (tree["properties"]?.members ?? [:]).sorted { $0.key < $1.key }.map { property, schema in
            ClientDeclaration.Property(
                name: property,
                type: schema["const"]?.text.map { .literal($0) }
                    ?? self.type(of: schema, named: "\(name)_\(property)"),
                isRequired: required.contains(property)
            )
        }
    }

    private mutating func option(
        _ tree: JSONTree,
        tag: String,
        of name: String
    ) -> ClientDeclaration.Option? {
        guard let text = self.tagText(of: tree, tag: tag),
            case .named(let schema) = self.type(of: tree, named: "\(name)_\(text)")
        else { return nil }
        return ClientDeclaration.Option(tag: text, schema: schema)
    }

    private func freeName(_ name: String) -> String {
        var free = name
        var number = 2
        while self.schemas[free] != nil || self.begun.contains(free) {
            free = "\(name)_\(number)"
            number += 1
        }
        return free
    }

    private static func enumeration(of tree: JSONTree) -> ClientDeclaration.Kind? {
        guard let values = tree["enum"]?.elements, !values.isEmpty else { return nil }
        let texts = values.compactMap(\.text)
        if texts.count == values.count { return .texts(texts) }
        let numbers = values.compactMap { value in
            if case .number(let text) = value, Int64(text) != nil { text } else { nil as String? }
        }
        guard numbers.count == values.count else { return nil }
        let isSafe = numbers.allSatisfy { (Int64($0) ?? .max).magnitude < 1 << 31 }
        return .integers(numbers, IntegerType(bits: isSafe ? 32 : 64, isSigned: true))
    }

    /// Returns the property whose text differs in each option of a union; nil if the schema is not such a
    /// union.
    private func unionTag(of tree: JSONTree) -> String? {
        guard let options = (tree["oneOf"] ?? tree["anyOf"])?.elements, options.count > 1 else { return nil }
        let objects = options.map { self.resolved($0) }
        guard objects.allSatisfy({ $0["type"] == "object" && !Self.isOpaque($0) }) else { return nil }
        let names = (objects[0]["properties"]?.members ?? [:]).keys.sorted()
        return names.first { name in
            let texts = options.compactMap { self.tagText(of: $0, tag: name) }
            return Set(texts).count == options.count
        }
    }

    private func tagText(of option: JSONTree, tag: String) -> String? {
        self.resolved(option)["properties"]?[tag]?["const"]?.text
    }

    /// Returns the schema that a reference refers to; for other schemas, returns the schema itself.
    private func resolved(_ tree: JSONTree) -> JSONTree {
        guard let reference = tree["$ref"]?.text, reference.hasPrefix(Self.prefix) else { return tree }
        return self.schemas[String(reference.dropFirst(Self.prefix.count))] ?? [:]
    }
}
