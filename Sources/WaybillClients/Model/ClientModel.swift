internal import Waybill
internal import WaybillDocuments
internal import WaybillRouting

/// The contents of a client, which are the same in every language.
struct ClientModel {
    /// A route that a client can call, or to which a client can send messages.
    struct Function {
        let namespace: String
        let name: String
        let documentation: String
        let pattern: String
        let arguments: [Argument]
        /// The possible URLs of the route, the longest first.
        ///
        /// A shorter URL omits optional parts of the path.
        let addresses: [[AddressPiece]]
        let reply: ClientType
        /// Whether the server replies.
        ///
        /// If the server does not reply, the route only accepts messages.
        let isCall: Bool
        /// The types of the progress replies; nil if the route does not declare them.
        let progress: Progress?
        let failures: [String]

        /// The pattern in one line of documentation.
        var patternText: String { "`\(self.pattern)`".documentationLines.joined(separator: " ") }

        /// The arguments that are sent in addition to the URL.
        var values: [Argument] { self.arguments.filter { !$0.isInEveryAddress } }

        /// Returns the type of an argument, by the argument's name.
        func type(of argument: String) -> ClientType {
            self.arguments.first { $0.name == argument }?.type ?? .text
        }

        /// Returns the conditions for the possible URLs, apart from the last URL.
        ///
        /// The condition for a URL is that the caller has passed each optional argument in the URL.
        ///
        /// - Parameters:
        ///   - and: The operator between the conditions for the arguments of a URL.
        ///   - always: The condition for a URL without optional arguments.
        ///   - isGiven: Returns the condition for an argument, by the argument's name.
        /// - Returns: The conditions, in the order of the URLs.
        func conditions(and: String, always: String, _ isGiven: (String) -> String) -> [String] {
            self.addresses.dropLast().map { address in
                let names = address.compactMap(\.argument).filter { name in
                    self.arguments.contains { $0.name == name && !$0.isRequired }
                }
                return names.isEmpty ? always : names.map(isGiven).joined(separator: and)
            }
        }

        /// The arguments, with the required arguments first.
        var sortedArguments: [Argument] {
            self.arguments.filter(\.isRequired) + self.arguments.filter { !$0.isRequired }
        }
    }

    /// The types of progress replies and of their answers.
    struct Progress {
        let update: ClientType
        /// The type of the answers, which is `nothing` if the handler expects no answers.
        let answer: ClientType
    }

    struct Argument {
        let name: String
        let type: ClientType
        let isRequired: Bool
        let defaultValue: String?
        /// Whether each possible URL contains the value.
        let isInEveryAddress: Bool
    }

    /// A part of a URL.
    enum AddressPiece: Equatable {
        case literal(String)
        /// The value of an argument, by the argument's name.
        ///
        /// If `isPath` is true, the value may contain several segments.
        case value(String, isPath: Bool)

        var argument: String? {
            if case .value(let name, _) = self { name } else { nil }
        }
    }

    /// An error type that a module declares for its callers.
    struct Failure {
        let name: String
        let codes: [String]
    }

    let fingerprint: String
    /// The functions by namespace, in the order of the names of the namespaces.
    let namespaces: [(name: String, functions: [Function])]
    let declarations: [ClientDeclaration]
    let failures: [Failure]
    let schemes: [String]

    /// Creates the contents of a client for the routes that a document exposes.
    init(_ document: BusDocument) {
        let routes = document.routes.filter { route in
            route.exposure.isSuperset(of: .calls) || route.exposure.isSuperset(of: .sends)
        }
        var reader = SchemaReader(document.schemas.mapValues(\.tree))
        let functions = routes.map { Function($0, &reader) }
        var order: [String] = []
        for function in functions where !order.contains(function.namespace) {
            order.append(function.namespace)
        }
        self.fingerprint = document.fingerprint
        self.namespaces = order.sorted().map { name in (name, functions.filter { $0.namespace == name }) }
        self.declarations = reader.declarations
        self.failures = Dictionary(grouping: routes.flatMap(\.failures), by: \.name)
            .map { Failure(name: $0, codes: Set($1.map(\.code)).sorted()) }
            .sorted { $0.name < $1.name }
        self.schemes = Set(routes.flatMap { $0.templates.map(\.scheme) }).sorted()
    }

    /// The types of all values.
    ///
    /// Collections and optionals are replaced by the types of their values.
    var usedTypes: Set<ClientType> {
        let functions = self.namespaces.flatMap(\.functions)
        let types = functions.flatMap { function in
            [function.reply, function.progress?.update, function.progress?.answer].compactMap(\.self)
                + function.arguments.map(\.type)
        }
        let properties = self.declarations.flatMap { declaration -> [ClientType] in
            if case .object(let properties) = declaration.kind { properties.map(\.type) } else { [] }
        }
        return Set((types + properties).map(\.innermost))
    }
}

extension ClientModel.Function {
    init(_ route: BusDocument.Route, _ reader: inout SchemaReader) {
        let templates = route.templates
        let action = route.action ?? ""
        var arguments = route.parameters.map { parameter in
            let places = templates.compactMap { template in
                template.parameters.first { $0.name == parameter.name && $0.isCaptured }
            }
            let schema = places.first.map { route.schema(of: $0) } ?? parameter.schema
            return ClientModel.Argument(
                name: parameter.name,
                type: reader.type(of: schema.tree, named: "\(action)_\(parameter.name)").unwrapped,
                isRequired: parameter.isRequired,
                defaultValue: parameter.defaultValue,
                isInEveryAddress: !templates.isEmpty && places.count == templates.count
            )
        }
        // A wildcard has no name in the pattern, but a URL must contain a value in its place.
        let addresses = templates.map { $0.pieces(of: route) }
        for name in addresses.joined().compactMap(\.argument)
        where !arguments.contains(where: { $0.name == name }) {
            let count = addresses.count { $0.contains { $0.argument == name } }
            arguments.append(
                ClientModel.Argument(
                    name: name,
                    type: .text,
                    isRequired: count == templates.count,
                    defaultValue: nil,
                    isInEveryAddress: count == templates.count
                )
            )
        }
        self.namespace = Self.namespace(of: route)
        self.name = route.action ?? Self.name(of: route)
        self.documentation = route.documentation
        self.pattern = route.pattern
        self.arguments = arguments
        self.addresses = addresses
        self.isCall = route.exposure.isSuperset(of: .calls)
        // A message without a reply does not need a reply type.
        self.reply = self.isCall ? reader.type(of: route.reply.tree, named: "\(action)_Reply") : .nothing
        let progress = self.isCall ? route.progress : nil
        self.progress = progress.map { progress in
            ClientModel.Progress(
                update: reader.type(of: progress.update.tree, named: "\(action)_Progress"),
                answer: reader.type(of: progress.answer.tree, named: "\(action)_Answer")
            )
        }
        self.failures = route.failures.map { "`\($0.name).\($0.code)`: \($0.message)" }
    }

    /// Returns the name of the route's module without a suffix such as `Module`, or the scheme for a closure.
    private static func namespace(of route: BusDocument.Route) -> String {
        guard var name = route.module else { return route.templates.first?.scheme ?? "routes" }
        for word in ["Module", "Actor", "Service"] where name.hasSuffix(word) && name.count > word.count {
            name.removeLast(word.count)
            break
        }
        return name
    }

    /// Returns a name for a route whose handler is a closure: the literal parts of its pattern.
    private static func name(of route: BusDocument.Route) -> String {
        guard let template = route.templates.last else { return route.pattern }
        let words = template.pieces(of: route).dropFirst().compactMap { piece in
            guard case .literal(let text) = piece else { return nil as String? }
            return PercentCoding.text(text.utf8.span, 0..<text.utf8.count)
        }
        return words.allSatisfy { !$0.contains(where: \.isLetter) }
            ? template.parameters.map(\.name).joined(separator: " ") : words.joined(separator: " ")
    }
}

extension [ClientModel.AddressPiece] {
    /// Whether the URL contains the value of an argument.
    var hasArgument: Bool { self.contains { $0.argument != nil } }
}

extension BusDocument.AddressTemplate {
    /// The parts of the URL, with the scheme as the first part.
    fileprivate func pieces(of route: BusDocument.Route) -> [ClientModel.AddressPiece] {
        var pieces: [ClientModel.AddressPiece] = [.literal("\(self.scheme)://")]
        var names = self.parameters[...]
        var rest = self.segments.joined(separator: "/")[...]
        while let parameter = names.popFirst(), let brace = rest.firstIndex(of: "{") {
            if brace > rest.startIndex { pieces.append(.literal(String(rest[..<brace]))) }
            let argument = self.argument(for: parameter, of: route)
            pieces.append(.value(argument, isPath: parameter.type == "path"))
            rest = rest[brace...].dropFirst(parameter.name.count + 2)
        }
        if !rest.isEmpty { pieces.append(.literal(String(rest))) }
        return pieces
    }

    /// Returns the name of the argument whose value replaces a name in braces.
    ///
    /// The name in braces has a number if a placeholder is repeated: `{id}` and `{id2}`. All occurrences of a
    /// placeholder have the same argument. A wildcard has an argument with a name that no parameter of the
    /// route has.
    private func argument(
        for placeholder: BusDocument.Placeholder,
        of route: BusDocument.Route
    ) -> String {
        if placeholder.isCaptured { return placeholder.name }
        let repeated = self.parameters.first { other in
            other.isCaptured && other.name != "any" && placeholder.name.hasPrefix(other.name)
                && placeholder.name.dropFirst(other.name.count).allSatisfy(\.isNumber)
        }
        if let repeated { return repeated.name }
        var name = placeholder.name
        while route.parameters.contains(where: { $0.name == name }) { name += "_" }
        return name
    }
}
