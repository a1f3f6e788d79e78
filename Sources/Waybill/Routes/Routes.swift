public import WaybillRouting

extension MessageBus {
    /// Unregisters the handler of a pattern.
    ///
    /// Handlers of longer patterns that begin with this pattern stay registered.
    ///
    /// - Returns: Whether the pattern had a handler.
    @discardableResult
    public func unregister(_ pattern: String) -> Bool { self.core.unregister { [$0.remove(pattern)] } > 0 }

    /// Unregisters all handlers of a scheme, its connector, and the scheme itself.
    ///
    /// Some conventions refuse URLs whose scheme is not registered. With these conventions, the bus refuses
    /// the scheme's URLs (`refused`) after this call, even if the scheme is the default scheme.
    ///
    /// - Parameter scheme: The scheme, in upper or lower case.
    /// - Returns: The number of handlers and connectors that were unregistered.
    @discardableResult
    public func unregister(scheme: String) -> Int {
        guard Address.isScheme(scheme) else { return 0 }
        let scheme = self.core.configuration.conventions.folded(scheme: scheme).lowercased()
        let disconnected = self.core.disconnect { $0.scheme.lowercased() == scheme }
        return disconnected
            + self.core.unregister { table in
                let spellings = table.schemes.filter { $0.lowercased() == scheme }
                return spellings.flatMap { table.removeAll(scheme: $0) }
            }
    }

    /// Returns whether a URL has a handler whose event loop has not been shut down.
    ///
    /// The method does not run a handler's code. If only a connector accepts the URL, the method calls the
    /// connector's ``Connector/canRoute(_:)``.
    public func canRoute(_ url: String) -> Bool { self.core.registry.reach(url).isPossible }

    /// The registered routes, in the order of registration.
    ///
    /// Connectors have no pattern and are not included. ``connectedSchemes`` lists the schemes of connectors.
    public var routes: [Route] { self.core.registry.withTable { $0.routes } }

    /// The descriptions of all registered routes, in the order of registration.
    ///
    /// The description of a module's route contains parameters, types and documentation. The
    /// description of a closure's route contains only the pattern and the reply type.
    public var routeDescriptions: [RouteDescription] { self.core.describedRoutes.map(\.description) }

    /// The registered routes with their parsed patterns and their descriptions.
    package var describedRoutes: [(pattern: RoutePattern, description: RouteDescription)] {
        self.core.describedRoutes.map { ($0.route.pattern, $0.description) }
    }

    /// Calls a closure after each change of the routes or of the exposed or shared patterns.
    ///
    /// - Parameter observer: The closure, which runs on the thread that made the change. The bus may hold
    ///   locks when it calls the closure, so the closure must neither block nor call the bus.
    /// - Returns: A closure that ends the observation.
    package func observeRoutes(_ observer: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        self.core.registry.observe(observer)
    }

    /// The routes that are visible to peers, with their parsed patterns and their descriptions.
    package var describedExposedRoutes: [(pattern: RoutePattern, description: RouteDescription)] {
        self.core.exposures.visibleRoutes(of: self.core).table.entries.map { ($0.route.pattern, $0.handler) }
    }
}

extension BusCore {
    var describedRoutes: [(route: Route, description: RouteDescription)] {
        self.registry.withTable { table in
            table.entries.map { route, target in
                (route, target.routeDescription ?? RouteDescription(of: route, reply: target.replyType))
            }
        }
    }
}

/// The properties of a route that are known without running its handler, for tables, documentation and
/// checks.
public struct RouteDescription: Sendable, Hashable {
    /// A parameter that a route reads.
    public struct Parameter: Sendable, Hashable {
        /// The name of the parameter in a message.
        public fileprivate(set) var name: String

        /// The type, as Swift source text.
        public let type: String

        /// The default value for a missing parameter, as Swift source text; nil if the parameter has no
        /// default.
        public let defaultValue: String?

        /// The type; nil if only the name of the type is known.
        @DescribedType package private(set) var valueType: (any Any.Type)?

        /// Creates the description of a parameter.
        ///
        /// - Parameters:
        ///   - name: The name of the parameter in a message.
        ///   - type: The type, as Swift source text.
        ///   - valueType: The type itself, for example `Int.self`, which the macro `@Route` passes; nil if only
        ///     the name of the type is known.
        ///   - defaultValue: The default value for a missing parameter, as Swift source text.
        public init(
            _ name: String,
            _ type: String,
            of valueType: (any Any.Type)? = nil,
            default defaultValue: String? = nil
        ) {
            self.name = name
            self.type = type
            self.valueType = valueType
            self.defaultValue = defaultValue
        }

        /// Whether a message without the parameter fails.
        public var isRequired: Bool {
            if self.defaultValue != nil { return false }
            if let type = self.valueType { return !Parameters.hasAbsentValue(type) }
            let isOptional = self.type.hasSuffix("?") || self.type.hasPrefix("Optional<")
            return !isOptional && !self.isArray
        }

        /// Whether the text of the type is an array type.
        ///
        /// The text of a dictionary type also has brackets, but it has a colon inside the outer brackets.
        private var isArray: Bool {
            if self.type.hasPrefix("Array<") { return true }
            guard self.type.hasPrefix("["), self.type.hasSuffix("]") else { return false }
            var depth = 0
            for sign in self.type.dropFirst() {
                if sign == ":", depth == 0 { return false }
                if "[(".contains(sign) { depth += 1 }
                if "])".contains(sign) { depth -= 1 }
            }
            return true
        }
    }

    /// The registered pattern.
    public private(set) var pattern: String

    /// The name of the module, or nil when the handler is a closure.
    public let module: String?

    /// The name of the method, or nil when the handler is a closure.
    public let action: String?

    /// The parameters; for a closure, only the parameters in the pattern of its route.
    public private(set) var parameters: [Parameter]

    /// The type of the reply's value, as Swift source text; empty when the type is not known.
    public let reply: String

    /// The documentation comment of the method, without the comment markers.
    public let documentation: String

    /// The errors that the route declares for its callers.
    public private(set) var failures: [Failure] = []

    /// The types of the progress replies and of their answers; nil if the route does not declare them.
    public internal(set) var progress: Progress?

    /// Whether the method takes the whole message, and can therefore read any value in the message.
    package internal(set) var takesMessage = false

    /// The type of the reply's value; nil if the handler returns nothing, or if only the name of the type is
    /// known.
    @DescribedType package internal(set) var replyType: (any Any.Type)?

    /// Creates a description of a route.
    public init(
        pattern: String,
        module: String? = nil,
        action: String? = nil,
        parameters: [Parameter] = [],
        reply: String = "Void",
        documentation: String = ""
    ) {
        self.pattern = pattern
        self.module = module
        self.action = action
        self.parameters = parameters
        self.reply = reply
        self.documentation = documentation
    }
}

extension RouteDescription {
    /// An error that a route declares for its callers.
    public struct Failure: Sendable, Hashable {
        /// The name of the error's type.
        public let name: String
        /// The kind of the error.
        public let code: String
        /// The text of the error's example, for a person.
        public let message: String
        /// The HTTP status code.
        public let status: Int

        /// Creates a description of an error.
        public init(name: String, code: String, message: String, status: Int) {
            self.name = name
            self.code = code
            self.message = message
            self.status = status
        }
    }

    /// The types of a route's progress replies and of the caller's answers.
    public struct Progress: Sendable, Hashable {
        /// The type of the progress replies, as Swift source text.
        public let update: String
        /// The type of the answers, as Swift source text; `Void` if the handler expects no answers.
        public let answer: String

        @DescribedType package private(set) var updateType: (any Any.Type)?
        @DescribedType package private(set) var answerType: (any Any.Type)?

        init(update: any Any.Type, answer: any Any.Type) {
            self.update = TypeName.of(update)
            self.answer = TypeName.of(answer)
            self.updateType = update
            self.answerType = answer
        }
    }

    /// Returns a copy with the errors that a type declares.
    func throwing(_ type: any Error.Type) -> Self {
        guard let type = type as? any ModuleError.Type else { return self }
        var description = self
        description.failures = type.examples.map { error in
            Failure(name: type.name, code: error.code, message: error.message, status: error.status)
        }
        return description
    }
}

/// A type in a description, equal to any other type, so that descriptions are compared by their texts.
@propertyWrapper
package struct DescribedType: Sendable, Hashable {
    package var wrappedValue: (any Any.Type)?

    package init(wrappedValue: (any Any.Type)?) { self.wrappedValue = wrappedValue }

    package static func == (left: Self, right: Self) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}

extension RouteDescription {
    /// Creates the description of a route whose handler is a closure, from its pattern and its reply type.
    init(of route: Route, reply: (any Any.Type)?) {
        let parameters = route.parameters.map { Parameter($0.name, $0.type) }
        self.init(pattern: route.pattern.text, parameters: parameters, reply: "")
        self.replyType = reply
    }

    /// Returns the description of the same handler for another pattern, without the parameters that a
    /// configured target supplies.
    func described(by pattern: String, target: ConfiguredTarget?) -> Self {
        var description = self
        description.pattern = pattern
        if case .values(let values) = target {
            description.parameters = self.parameters.compactMap { parameter in
                if values.fixed[parameter.name] != nil { return nil }
                var parameter = parameter
                parameter.name = values.renamed[parameter.name] ?? parameter.name
                return parameter
            }
        }
        return description
    }
}
