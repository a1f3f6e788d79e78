public import Waybill
internal import WaybillRouting

/// A description of a bus: every route with its URLs, parameters, reply and schemas.
///
/// ``Waybill/MessageBus/document(title:version:of:)`` creates a document from the registered routes; no part
/// of it is written by hand. ``text(as:)`` writes it as AsyncAPI, OpenAPI, JSON, Markdown or a page.
/// ``changes(since:)`` returns the changes since an older document, and which of them break callers.
public struct BusDocument: Sendable, Hashable {
    /// One route.
    public struct Route: Sendable, Hashable {
        /// The pattern, as it was registered.
        public let pattern: String

        /// The name of the module, or nil when the handler is a closure.
        public let module: String?

        /// The name of the method, or nil when the handler is a closure.
        public let action: String?

        /// The documentation comment.
        public let documentation: String

        /// The parameters of the route: the captured values of the pattern, and the values of the query or
        /// the call.
        public let parameters: [Parameter]

        /// The type of the reply, in Swift syntax; empty if the type is not known.
        public let replyType: String

        /// The schema of the reply.
        public let reply: ValueSchema

        /// The errors that the route declares for its callers.
        public let failures: [RouteDescription.Failure]

        /// The operations that peers may use with every URL of the pattern.
        public let exposure: ExposedOperations

        /// The forms of the pattern's URLs, the longest first.
        package let templates: [AddressTemplate]
    }

    /// A parameter of a route.
    public struct Parameter: Sendable, Hashable {
        /// The name under which the handler reads the value.
        public let name: String

        /// The type, in Swift syntax or in the syntax of patterns.
        public let type: String

        /// The default value, in Swift syntax; nil if there is none.
        public let defaultValue: String?

        /// Whether a message without the parameter fails.
        public let isRequired: Bool

        /// The schema of the value.
        public let schema: ValueSchema
    }

    /// A form of a pattern's URLs: `app://user/{uid}`.
    package struct AddressTemplate: Sendable, Hashable {
        package let scheme: String
        package let segments: [String]
        /// The names in braces, in the order of the segments.
        package let parameters: [Placeholder]
        /// Whether each `{name}` stands for one value of one segment.
        package let isExact: Bool

        var address: String { "\(self.scheme)://\(self.segments.joined(separator: "/"))" }
    }

    package struct Placeholder: Sendable, Hashable {
        package let name: String
        /// The type, in the syntax of patterns.
        package let type: String
        /// Whether handlers can read the value.
        package let isCaptured: Bool
        package let schema: ValueSchema
    }

    /// The name of the program.
    public let title: String

    /// The version of the program.
    public let version: String

    /// The routes, in the order of their patterns.
    public let routes: [Route]

    /// The schemas to which other schemas refer as `#/components/schemas/NAME`.
    public let schemas: [String: ValueSchema]

    /// Returns the document under another title and version.
    package func named(_ title: String, version: String) -> Self {
        Self(title: title, version: version, routes: self.routes, schemas: self.schemas)
    }
}

/// The routes that a document describes.
public struct DocumentScope: Sendable, Hashable {
    private enum Storage { case all, exposed }

    private let storage: Storage

    /// Every route.
    public static let all = Self(storage: .all)

    /// The routes that peers of other processes reach by calls and sends.
    public static let exposed = Self(storage: .exposed)
}

extension MessageBus {
    /// Returns a description of the routes that are registered now.
    ///
    /// The method runs no code of the program except the `init(from:)` of parameter and reply types. It runs
    /// them with small values to find the properties that they read. Registering a route costs nothing more
    /// for it. A document of 1,000 routes takes some ten milliseconds. The method may be called from any
    /// thread.
    ///
    /// - Parameters:
    ///   - title: the name of the program.
    ///   - version: the version of the program.
    ///   - scope: the routes to describe; all by default.
    /// - Returns: the document, which is the same for the same routes.
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

    /// Returns the operations that are exposed for all of some example URLs of a pattern.
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
                // The parameters of a closure come from the pattern, and may be in an optional group.
                isRequired: parameter.isRequired && (route.action != nil || isInAll(parameter.name)),
                schema: parameter.defaultValue == nil ? schema : schema.orNull
            )
        }
        // A method may read values from the message that its description does not name.
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
