public import WaybillRouting

extension MessageBus {
    /// Unregisters the handler of a pattern; what is below it stays.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public func unregister(_ pattern: String) -> Bool {
        self.core.remove { [$0.remove(pattern)] } > 0
    }

    /// Unregisters every handler of a scheme, written in any case, its connector, and the scheme itself: by
    /// conventions that refuse schemes which are not registered, its URLs are `refused` from then on, even if
    /// it is the default scheme.
    ///
    /// - Returns: how many there were.
    @discardableResult
    public func unregister(scheme: String) -> Int {
        let scheme = scheme.lowercased()
        let disconnected = self.core.disconnect { $0.scheme.lowercased() == scheme }
        return disconnected
            + self.core.remove { table in
                let spellings = table.schemes.filter { $0.lowercased() == scheme }
                return spellings.flatMap { table.removeAll(scheme: $0) }
            }
    }

    /// Whether a URL has a handler now whose event loop has not been shut down; nothing is run.
    ///
    /// If nothing but a connector takes the URL, it is asked: ``Connector/canRoute(_:)``.
    public func canRoute(_ url: String) -> Bool { self.core.registry.reach(url).isPossible }

    /// What is registered, in the order of registration; connectors have no pattern: see
    /// ``connectedSchemes``.
    public var routes: [Route] {
        (try? self.core.registry.read { table throws(RoutingError) in table.routes }) ?? []
    }

    /// What is registered, in the order of registration, with all that is known of it without running
    /// anything.
    ///
    /// A module's routes say their parameters, types and documentation; of a plain closure only the pattern
    /// is known.
    public var routeDescriptions: [RouteDescription] {
        self.core.describedRoutes.map(\.description)
    }

    /// The same with the patterns as they were read.
    package var describedRoutes: [(pattern: RoutePattern, description: RouteDescription)] {
        self.core.describedRoutes.map { ($0.route.pattern, $0.description) }
    }

    /// Calls code after each change of routes and of what is exposed or shared.
    ///
    /// - Parameter observer: the code, which runs on the thread that made the change and must not wait.
    /// - Returns: what ends it.
    package func observeRoutes(_ observer: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        self.core.registry.observe(observer)
    }

    /// The routes that peers see, with the patterns as they were read.
    package var describedExposedRoutes: [(pattern: RoutePattern, description: RouteDescription)] {
        let table = self.core.exposures.visibleRoutes(of: self.core).table
        return table.routes.compactMap { route in table.handler(for: route.id).map { (route.pattern, $0) } }
    }
}

extension BusCore {
    /// What is registered, in the order of registration, with all that is known of it.
    var describedRoutes: [(route: Route, description: RouteDescription)] {
        let routes = try? self.registry.read { table throws(RoutingError) in
            table.routes.map { route in
                let target = table.handler(for: route.id)
                if let description = target?.routeDescription { return (route, description) }
                return (route, RouteDescription(of: route, reply: target?.replyType))
            }
        }
        return routes ?? []
    }
}

/// What there is to know about a route without running it: for tables, documentation and checks.
public struct RouteDescription: Sendable, Hashable {
    /// A parameter that a route reads.
    public struct Parameter: Sendable, Hashable {
        /// The name under which the value is looked for.
        public let name: String

        /// The type, as it is written in Swift.
        public let type: String

        /// The value that stands in for a missing one, as it is written in Swift; nil if the parameter has
        /// none.
        public let defaultValue: String?

        private let knownType: DescribedType

        /// The type itself; nil if only its name is known.
        package var valueType: (any Any.Type)? { self.knownType.type }

        /// Describes a parameter of which no document knows more than the name of its type.
        public init(_ name: String, _ type: String, default defaultValue: String? = nil) {
            self.init(name, type, DescribedType(nil), defaultValue)
        }

        /// Describes a parameter whose type documents can look into, as `@Route` does.
        ///
        /// - Parameters:
        ///   - name: the name under which the value is looked for.
        ///   - type: the type, as it is written in Swift.
        ///   - valueType: the type itself: `Int.self`.
        ///   - defaultValue: what stands in for a missing value, as it is written in Swift.
        public init(
            _ name: String,
            _ type: String,
            of valueType: any Any.Type,
            default defaultValue: String? = nil
        ) {
            self.init(name, type, DescribedType(valueType), defaultValue)
        }

        init(_ name: String, _ type: String, _ knownType: DescribedType, _ defaultValue: String?) {
            self.name = name
            self.type = type
            self.knownType = knownType
            self.defaultValue = defaultValue
        }

        /// The same parameter under another name.
        func named(_ name: String) -> Self { Self(name, self.type, self.knownType, self.defaultValue) }

        /// Whether a message without the parameter fails.
        public var isRequired: Bool {
            self.defaultValue == nil && !self.isOptional && !self.isArray
        }

        private var isOptional: Bool { self.type.hasSuffix("?") || self.type.hasPrefix("Optional<") }

        /// A dictionary is written in the same brackets, with a colon inside.
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

    /// The pattern, as it is registered.
    public let pattern: String

    /// The name of the module, or nil for a plain closure.
    public let module: String?

    /// The name of the method, or nil for a plain closure.
    public let action: String?

    /// The parameters; of a plain closure those that the pattern names.
    public let parameters: [Parameter]

    /// The type of the value that comes back, as it is written in Swift; empty if it is not known.
    public let reply: String

    /// The documentation comment, without its markers.
    public let documentation: String

    /// The errors that the route declares for its callers.
    public private(set) var failures: [Failure] = []

    /// Whether the method takes the whole message, and so whatever values that has.
    var takesMessage = false

    private let knownReply: DescribedType

    /// The type of the value that comes back itself; nil if only its name is known, or nothing.
    package var replyType: (any Any.Type)? { self.knownReply.type }

    /// Describes a route.
    public init(
        pattern: String,
        module: String? = nil,
        action: String? = nil,
        parameters: [Parameter] = [],
        reply: String = "Void",
        documentation: String = ""
    ) {
        self.init(pattern, module, action, parameters, reply, DescribedType(nil), documentation)
    }

    init(
        _ pattern: String,
        _ module: String?,
        _ action: String?,
        _ parameters: [Parameter],
        _ reply: String,
        _ knownReply: DescribedType,
        _ documentation: String
    ) {
        self.pattern = pattern
        self.module = module
        self.action = action
        self.parameters = parameters
        self.reply = reply
        self.knownReply = knownReply
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
        /// The sentence of an example.
        public let message: String
        /// The status over HTTP.
        public let status: Int

        /// Describes an error.
        public init(name: String, code: String, message: String, status: Int) {
            self.name = name
            self.code = code
            self.message = message
            self.status = status
        }

        init(_ error: some ModuleError) {
            self.init(
                name: type(of: error).name,
                code: error.code,
                message: error.message,
                status: error.status
            )
        }
    }

    /// The same route with the errors of a type, when the type declares any.
    func throwing(_ type: any Error.Type) -> Self {
        guard let type = type as? any ModuleError.Type else { return self }
        var description = self
        description.failures = Self.failures(of: type)
        return description
    }

    private static func failures<Declared: ModuleError>(of type: Declared.Type) -> [Failure] {
        type.examples.map { Failure($0) }
    }
}

/// A type that a description knows; it takes no part in comparing descriptions, which compare what is
/// written.
struct DescribedType: Sendable, Hashable {
    let type: (any Any.Type)?

    init(_ type: (any Any.Type)?) { self.type = type }

    static func == (left: Self, right: Self) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

extension RouteDescription {
    /// What is known of a plain closure, from its pattern and the type of what it returns.
    init(of route: Route, reply: (any Any.Type)?) {
        self.init(
            route.pattern.text,
            nil,
            nil,
            route.parameters.map { Parameter($0.name, $0.type) },
            "",
            DescribedType(reply),
            ""
        )
    }

    /// The same route under another pattern, without the parameters that a target's URL gives.
    func with(pattern: String, target: ConfiguredTarget?) -> Self {
        var parameters = self.parameters
        if case .values(let values) = target {
            parameters = parameters.compactMap { parameter in
                if values.fixed[parameter.name] != nil { return nil }
                return values.renamed[parameter.name].map(parameter.named) ?? parameter
            }
        }
        var description = Self(
            pattern,
            self.module,
            self.action,
            parameters,
            self.reply,
            self.knownReply,
            self.documentation
        )
        description.failures = self.failures
        description.takesMessage = self.takesMessage
        return description
    }
}
