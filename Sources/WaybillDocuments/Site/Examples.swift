internal import Waybill

/// Creates example values that schemas allow.
struct ExampleValues {
    private let schemas: [String: ValueSchema]

    init(_ schemas: [String: ValueSchema]) { self.schemas = schemas }

    /// The maximum nesting of references in an example.
    private static let maximumDepth = 4
    /// The maximum number of values in an example.
    private static let maximumCount = 500

    /// Returns an example value.
    func value(of schema: JSONTree) -> JSONTree {
        var rest = Self.maximumCount
        return self.value(of: schema, depth: Self.maximumDepth, rest: &rest)
    }

    private func value(of schema: JSONTree, depth: Int, rest: inout Int) -> JSONTree {
        rest -= 1
        if rest < 0 { return .null }
        if let name = ValueSchema(schema).referenced {
            guard depth > 0, let schema = self.schemas[name]?.tree else { return .null }
            return self.value(of: schema, depth: depth - 1, rest: &rest)
        }
        if let first = schema["examples"]?.elements?.first ?? schema["enum"]?.elements?.first { return first }
        if let first = schema["allOf"]?.elements?.first ?? schema["anyOf"]?.elements?.first {
            return self.value(of: first, depth: depth, rest: &rest)
        }
        switch ValueSchema(schema).withoutNull.tree["type"]?.text {
        case "string": return .string(Self.text(schema["format"]?.text))
        case "integer": return 1
        case "number": return .number("1.5")
        case "boolean": return true
        case "array":
            return schema["items"].map { [self.value(of: $0, depth: depth, rest: &rest)] } ?? []
        case "object":
            var members: [String: JSONTree] = [:]
            for (name, schema) in (schema["properties"]?.members ?? [:]).sorted(by: { $0.key < $1.key }) {
                members[name] = self.value(of: schema, depth: depth, rest: &rest)
            }
            return .object(members)
        default: return .null
        }
    }

    private static func text(_ format: String?) -> String {
        switch format {
        case "uuid": "6f1f0d0e-7a52-4c43-9d0e-0d4e3f1a2b3c"
        case "date-time": "2026-11-21T08:30:00Z"
        case "uri-reference": "https://example.com"
        default: "text"
        }
    }
}

/// Examples of calls of a route, which readers of the page can copy.
struct RouteExamples {
    /// The URL with the required parameters that can be passed in a query.
    let url: String
    /// The other required parameters, as members of an object.
    let others: [String: JSONTree]
    private let route: BusDocument.Route

    init(_ route: BusDocument.Route, _ values: ExampleValues) {
        self.route = route
        let template = route.templates.first
        var address = template?.address ?? route.pattern
        for placeholder in template?.parameters ?? [] {
            let value = values.value(of: route.schema(of: placeholder).tree)
            let isRegex = placeholder.type == "regex"
            address = address.replacing(
                "{\(placeholder.name)}",
                with: isRegex ? "{\(placeholder.name)}" : Self.text(of: value) ?? "text"
            )
        }
        var query: [String] = []
        var others: [String: JSONTree] = [:]
        let parameters = template.map(route.parameters(besides:)) ?? route.parameters
        for parameter in parameters where parameter.isRequired {
            let value = values.value(of: parameter.schema.tree)
            if let text = Self.text(of: value) {
                query.append("\(parameter.name)=\(text)")
            } else {
                others[parameter.name] = value
            }
        }
        self.url = query.isEmpty ? address : "\(address)?\(query.joined(separator: "&"))"
        self.others = others
    }

    /// Returns a value as text for a URL; nil for null, arrays and objects.
    private static func text(of value: JSONTree) -> String? {
        switch value {
        case .string(let text): Address.encode(text)
        case .number(let text): text
        case .bool(let flag): "\(flag)"
        case .null, .array, .object: nil
        }
    }

    /// The call in Swift code.
    var swift: String {
        let names = self.others.keys.sorted().map { "\"\($0)\": \($0)" }
        let parameters = names.isEmpty ? "" : ", parameters: [\(names.joined(separator: ", "))]"
        let call = "try await bus.route(\"\(self.url)\"\(parameters))"
        if self.route.reply == .null || self.route.replyType.isEmpty { return call }
        return "let reply: \(self.route.replyType) = \(call)"
    }

    /// The call as a command in a shell, to a server on a Unix socket.
    var command: String {
        let json = JSONTree.object(self.others).written(isPretty: false)
        let values = self.others.isEmpty ? "" : " --json \(json.shellQuoted)"
        return "waybill call \(self.url.shellQuoted)\(values) --connect SOCKET"
    }

    /// The call as a `curl` command, to an HTTP gateway at `/bus`; nil if the route is not exposed for calls.
    var curl: String? {
        guard self.route.exposure.isSuperset(of: .calls), let scheme = self.url.range(of: "://") else {
            return nil
        }
        let path = "\(self.url[..<scheme.lowerBound])/\(self.url[scheme.upperBound...])"
        let body = JSONTree.object(self.others).written(isPretty: false)
        let isRead = self.route.exposure.isSuperset(of: .reads) && self.others.isEmpty
        let data =
            self.others.isEmpty ? "-X POST" : "-H 'Content-Type: application/json' -d \(body.shellQuoted)"
        return "curl \("http://localhost:8080/bus/\(path)".shellQuoted)" + (isRead ? "" : " \(data)")
    }
}

extension String {
    /// The text as one word of a shell.
    fileprivate var shellQuoted: String { "'\(self.replacingBytes("'", with: "'\\''"))'" }

    /// Returns the first range of a text.
    fileprivate func range(of text: String) -> Range<Index>? { self.firstRange(of: text) }
}
