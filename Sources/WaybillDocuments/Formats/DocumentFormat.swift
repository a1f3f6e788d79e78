/// A format in which a document can be written.
///
/// The text depends only on the document: the text is sorted, contains no dates, and is the same each time.
public struct DocumentFormat: Sendable, Hashable {
    enum Storage: Hashable {
        case json, markdown, asyncAPI, site
        case openAPI(streams: Bool, path: String)
    }

    let storage: Storage

    /// JSON that ``BusDocument/init(json:)`` reads, for `waybill diff` and other programs.
    public static let json = Self(storage: .json)

    /// Markdown for people, with a section for each module.
    public static let markdown = Self(storage: .markdown)

    /// AsyncAPI 3.0.
    ///
    /// Each route is an operation that receives messages, and the replies of the route are a channel.
    public static let asyncAPI = Self(storage: .asyncAPI)

    /// One HTML page with a search field.
    ///
    /// The page loads nothing from the network.
    public static let site = Self(storage: .site)

    /// Returns the format OpenAPI 3.1, for the routes that an HTTP gateway serves.
    ///
    /// A gateway serves the routes that are exposed for calls.
    ///
    /// - Parameter path: The path of the gateway, such as `/bus`.
    /// - Returns: The format.
    public static func openAPI(path: String = "/bus") -> Self {
        Self(storage: .openAPI(streams: false, path: path))
    }

    /// Returns the format OpenAPI 3.2, which also describes the events in event streams.
    ///
    /// - Parameter path: The path of the gateway, such as `/bus`.
    /// - Returns: The format.
    public static func openAPIWithStreams(path: String = "/bus") -> Self {
        Self(storage: .openAPI(streams: true, path: path))
    }
}

extension BusDocument {
    /// Returns the document as text in a format.
    public func text(as format: DocumentFormat) -> String {
        switch format.storage {
        case .json: self.json
        case .markdown: self.markdown
        case .asyncAPI: AsyncAPIWriter(self).tree.written()
        case .site: self.site
        case .openAPI(let streams, let path): OpenAPIWriter(self, path: path, streams: streams).tree.written()
        }
    }
}

extension BusDocument.Route {
    /// The first paragraph of the documentation, on one line.
    var summary: String {
        self.documentation.split(separator: "\n", omittingEmptySubsequences: false)
            .prefix { !$0.allSatisfy(\.isWhitespace) }
            .joined(separator: " ")
    }

    /// The documentation after the first paragraph.
    var details: String {
        let lines = self.documentation.split(separator: "\n", omittingEmptySubsequences: false)
            .drop { !$0.allSatisfy(\.isWhitespace) }
            .drop { $0.allSatisfy(\.isWhitespace) }
        return lines.joined(separator: "\n")
    }

    /// Returns the parameters that a caller passes in the query or with the call, and not in the address.
    func parameters(besides template: BusDocument.AddressTemplate) -> [BusDocument.Parameter] {
        let names = Set(template.parameters.lazy.filter(\.isCaptured).map(\.name))
        return self.parameters.filter { !names.contains($0.name) }
    }

    /// Returns the schema of a value in the address.
    ///
    /// If the pattern accepts any string as the value, the method's parameter determines the schema, because
    /// the parameter's type is more precise.
    package func schema(of placeholder: BusDocument.Placeholder) -> ValueSchema {
        let parameter = self.parameters.first { $0.name == placeholder.name && placeholder.isCaptured }
        guard let schema = parameter?.schema, placeholder.type == "string", !schema.isOpaque else {
            return placeholder.schema
        }
        var tree = schema.withoutNull.tree
        if tree["type"] == "string", tree["enum"] == nil, tree["format"] == nil { tree["minLength"] = 1 }
        return ValueSchema(tree)
    }
}

/// Creates names of operations and channels: the address with dots, and a number if the name exists.
struct UniqueNames {
    /// Whether the channel of a name also has a channel for replies, as in AsyncAPI.
    private let reservesReplies: Bool
    private var taken: Set<String> = []

    init(reservesReplies: Bool = false) { self.reservesReplies = reservesReplies }

    mutating func name(for template: BusDocument.AddressTemplate) -> String {
        let parts = ([template.scheme] + template.segments).map { segment in
            String(
                segment.unicodeScalars.map { scalar in
                    let isPlain =
                        scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
                    return isPlain ? Character(scalar) : "_"
                }
            )
        }
        let name = parts.map { part in
            part.split(separator: "_").joined(separator: "_")
        }.filter { !$0.isEmpty }.joined(separator: ".")
        var unique = name
        var number = 1
        while !self.taken.isDisjoint(with: self.names(with: unique)) {
            number += 1
            unique = "\(name)_\(number)"
        }
        self.taken.formUnion(self.names(with: unique))
        return unique
    }

    private func names(with name: String) -> [String] {
        self.reservesReplies ? [name, "\(name).reply"] : [name]
    }
}

extension ValueSchema {
    /// The schema, from which null has been removed.
    var withoutNull: Self {
        var tree = self.tree
        if let types = tree["type"]?.elements {
            let rest = types.filter { $0 != "null" }
            tree["type"] = rest.count == 1 ? rest[0] : .array(rest)
            if let values = tree["enum"]?.elements { tree["enum"] = .array(values.filter { $0 != .null }) }
            return Self(tree)
        }
        guard let options = tree["anyOf"]?.elements else { return self }
        let rest = options.filter { $0 != ["type": "null"] }
        return rest.count == 1 ? Self(rest[0]) : self
    }

    /// Returns the schema of an object that has the parameters of a call as members.
    static func object(of parameters: [BusDocument.Parameter]) -> Self {
        var tree: JSONTree = ["type": "object"]
        if !parameters.isEmpty {
            let members = parameters.map { ($0.name, $0.describedSchema.tree) }
            tree["properties"] = .object(Dictionary(members) { _, last in last })
        }
        let required = parameters.filter(\.isRequired).map(\.name).sorted()
        if !required.isEmpty { tree["required"] = .strings(required) }
        return Self(tree)
    }
}

extension BusDocument.Parameter {
    /// The schema of the parameter, with the parameter's default value.
    var describedSchema: ValueSchema {
        guard let defaultValue, defaultValue != "nil" else { return self.schema }
        var tree = self.schema.tree
        if tree["$ref"] != nil { tree = ["allOf": [tree]] }
        if let value = self.literal(defaultValue) {
            tree["default"] = value
        } else {
            tree["description"] = .string("`\(defaultValue)` if it is missing")
        }
        return ValueSchema(tree)
    }

    /// Returns a default value as JSON; nil if the default value is not a literal.
    private func literal(_ text: String) -> JSONTree? {
        guard let tree = try? JSONTree(json: text) else { return nil }
        return switch tree {
        case .bool, .number: tree
        // Swift and JSON have different escapes in strings.
        case .string: text.contains("\\") ? nil : tree
        case .null, .array, .object: nil
        }
    }
}
