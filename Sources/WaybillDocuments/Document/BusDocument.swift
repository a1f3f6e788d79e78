public import Waybill
internal import WaybillRouting

/// A description of a bus: every route with its URLs, parameters, reply and schemas.
///
/// ``Waybill/MessageBus/document(title:version:of:)`` creates a document from the registrations.
/// ``text(as:)`` writes it as AsyncAPI, OpenAPI, JSON, Markdown or a page. ``changes(since:)`` compares it
/// with an older document, and finds the changes that break callers.
public struct BusDocument: Sendable, Hashable {
    /// One route.
    public struct Route: Sendable, Hashable {
        /// The registered pattern.
        public let pattern: String

        /// The name of the module, or nil for a plain closure.
        public let module: String?

        /// The name of the method, or nil for a plain closure.
        public let action: String?

        /// The documentation comment.
        public let documentation: String

        /// The parameters of the pattern, the query and the call.
        public let parameters: [Parameter]

        /// The type of the reply in Swift; empty when it is unknown.
        public let replyType: String

        /// The values that come back.
        public let reply: ValueSchema

        /// The errors that the route declares for its callers.
        public let failures: [RouteDescription.Failure]

        /// The operations that peers may perform on all URLs of the pattern.
        public let exposure: ExposedOperations

        /// The forms of the pattern's URLs, the longest first.
        let templates: [AddressTemplate]
    }

    /// A parameter of a route.
    public struct Parameter: Sendable, Hashable {
        /// The name under which the value is looked for.
        public let name: String

        /// The type in Swift or in the pattern.
        public let type: String

        /// The default value, as Swift source text; nil when there is none.
        public let defaultValue: String?

        /// Whether a message without the parameter fails.
        public let isRequired: Bool

        /// The values that it may have.
        public let schema: ValueSchema
    }

    /// A form of a pattern's URLs: `app://user/{uid}`.
    struct AddressTemplate: Sendable, Hashable {
        let scheme: String
        let segments: [String]
        /// The placeholders, in the order of the segments.
        let parameters: [Placeholder]
        /// Whether each `{name}` stands for one value of one segment.
        let isExact: Bool

        var address: String { "\(self.scheme)://\(self.segments.joined(separator: "/"))" }
    }

    struct Placeholder: Sendable, Hashable {
        let name: String
        /// As patterns spell it.
        let type: String
        /// Whether handlers can read the value.
        let isCaptured: Bool
        let schema: ValueSchema
    }

    /// The name of the program.
    public let title: String

    /// Which version of the program it is about.
    public let version: String

    /// The routes, in the order of their patterns.
    public let routes: [Route]

    /// The schemas that others refer to as `#/components/schemas/NAME`.
    public let schemas: [String: ValueSchema]

    /// Returns the document with another title and version.
    package func named(_ title: String, version: String) -> Self {
        Self(title: title, version: version, routes: self.routes, schemas: self.schemas)
    }
}

/// Which routes a document is about.
public struct DocumentScope: Sendable, Hashable {
    private enum Storage { case all, exposed }

    private let storage: Storage

    /// Every route.
    public static let all = Self(storage: .all)

    /// The routes that other processes can call or send to.
    public static let exposed = Self(storage: .exposed)
}

extension MessageBus {
    /// Describes the registered routes.
    ///
    /// The function calls `init(from:)` of the types of parameters and replies with small values, to find the
    /// properties that they decode. It also reads their `allCases` and `documentedSchema`. Registrations cost
    /// nothing more for it. A document of 1,000 routes takes about ten milliseconds. The function can be
    /// called from any thread.
    ///
    /// - Parameters:
    ///   - title: The name of the program.
    ///   - version: The version of the program.
    ///   - scope: The routes to describe; all by default.
    /// - Returns: The document. Equal routes give equal documents.
    public func document(
        title: String = "Waybill",
        version: String = "1.0.0",
        of scope: DocumentScope = .all
    ) -> BusDocument {
        var registry = SchemaRegistry()
        let exposed = self.describedExposedRoutes
        let described = scope == .all ? self.describedRoutes : exposed
        let visible = Set(exposed.map(\.description.pattern))
        let sorted = described.sorted { $0.description.pattern < $1.description.pattern }
        let routes = sorted.map { pattern, description in
            let isVisible = visible.contains(description.pattern)
            return BusDocument.Route(
                description,
                pattern: pattern,
                exposure: isVisible ? self.exposure(of: pattern) : [],
                registry: &registry
            )
        }
        return BusDocument(title: title, version: version, routes: routes, schemas: registry.named)
    }

    /// Returns the operations that peers may perform on all example URLs of a pattern.
    private func exposure(of pattern: RoutePattern) -> ExposedOperations {
        // A fixed seed makes the result reproducible.
        var generator = SeededGenerator(seed: 1)
        return (0..<16).reduce(into: [.all, .reads]) { operations, _ in
            operations.formIntersection(self.exposedOperations(of: pattern.example(using: &generator)))
        }
    }
}

extension BusDocument.Route {
    fileprivate init(
        _ route: RouteDescription,
        pattern: RoutePattern,
        exposure: ExposedOperations,
        registry: inout SchemaRegistry
    ) {
        let templates = pattern.templates.map { BusDocument.AddressTemplate($0) }
        func isInAll(_ name: String) -> Bool {
            templates.allSatisfy { $0.parameters.contains { $0.name == name } }
        }
        var parameters = route.parameters.map { parameter in
            let schema = registry.parameter(of: parameter.valueType, named: parameter.type)
            return BusDocument.Parameter(
                name: parameter.name,
                type: parameter.type,
                defaultValue: parameter.defaultValue,
                // The parameters of a closure come from its pattern, and may be in an optional group.
                isRequired: parameter.isRequired && (route.action != nil || isInAll(parameter.name)),
                schema: parameter.defaultValue == nil ? schema : schema.orNull
            )
        }
        // A method may read some values from the message itself, which its description does not name.
        for placeholder in templates.flatMap(\.parameters).filter(\.isCaptured)
        where !parameters.contains(where: { $0.name == placeholder.name }) {
            parameters.append(
                BusDocument.Parameter(
                    name: placeholder.name,
                    type: placeholder.type,
                    defaultValue: nil,
                    isRequired: isInAll(placeholder.name),
                    schema: placeholder.schema
                )
            )
        }
        self.init(
            pattern: route.pattern,
            module: route.module,
            action: route.action,
            documentation: route.documentation,
            parameters: parameters,
            replyType: route.reply.isEmpty ? route.replyType.map { TypeName.of($0) } ?? "" : route.reply,
            reply: route.replyType.map { registry.schema(of: $0) } ?? .opaque(route.reply, "not known"),
            failures: route.failures,
            exposure: exposure,
            templates: templates
        )
    }
}

extension BusDocument.AddressTemplate {
    init(_ template: PatternTemplate) {
        self.init(
            scheme: template.scheme,
            segments: template.segments,
            parameters: template.parameters.map { parameter in
                BusDocument.Placeholder(
                    name: parameter.name,
                    type: parameter.type,
                    isCaptured: parameter.isCaptured,
                    schema: SchemaRegistry.pattern(type: parameter.type, expression: parameter.expression)
                        ?? .string
                )
            },
            isExact: template.isExact
        )
    }
}
