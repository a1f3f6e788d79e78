public import Waybill
internal import WaybillRouting

/// A description of a bus: every route with its URLs, parameters, reply and schemas.
///
/// ``Waybill/MessageBus/document(title:version:of:)`` creates a document from the registered routes, so
/// nobody has to write a document. ``text(as:)`` converts a document to AsyncAPI, OpenAPI, JSON, Markdown or
/// an HTML page. ``changes(since:)`` returns the changes since an older document, and shows which of these
/// changes break callers.
public struct BusDocument: Sendable, Hashable {
    /// One route.
    public struct Route: Sendable, Hashable {
        /// The pattern of the route, in the spelling of its registration.
        public let pattern: String

        /// The name of the module; nil when the handler is a closure.
        public let module: String?

        /// The name of the method; nil when the handler is a closure.
        public let action: String?

        /// The documentation comment of the method.
        public let documentation: String

        /// The parameters of the route: the values that the pattern captures from the path, and the values of
        /// the query or of the call.
        public let parameters: [Parameter]

        /// The type of the reply, in Swift syntax; empty if the type is not known.
        public let replyType: String

        /// The schema of the reply.
        public let reply: ValueSchema

        /// The errors that the route declares for its callers.
        public let failures: [RouteDescription.Failure]

        /// The types of the progress replies and of their answers; nil if the route does not declare them.
        public let progress: Progress?

        /// The operations that other processes may use with every URL of the pattern.
        public let exposure: ExposedOperations

        /// The possible URLs of the pattern, the longest first.
        ///
        /// A shorter URL omits optional parts of the path.
        package let templates: [AddressTemplate]
    }

    /// A parameter of a route.
    public struct Parameter: Sendable, Hashable {
        /// The name by which the handler reads the value.
        public let name: String

        /// The type, in Swift syntax or in the syntax of patterns.
        public let type: String

        /// The default value, in Swift syntax; nil if the parameter has no default value.
        public let defaultValue: String?

        /// Whether a message without the parameter fails.
        public let isRequired: Bool

        /// The schema of the value.
        public let schema: ValueSchema
    }

    /// The types of a route's progress replies and of the caller's answers.
    public struct Progress: Sendable, Hashable {
        /// The type of the progress replies, in Swift syntax.
        public let updateType: String

        /// The schema of the progress replies.
        public let update: ValueSchema

        /// The type of the answers, in Swift syntax; `Void` if the handler expects no answers.
        public let answerType: String

        /// The schema of the answers, which allows only null if the handler expects no answers.
        public let answer: ValueSchema
    }

    /// A possible URL of a pattern, with names for values: `app://user/{uid}`.
    package struct AddressTemplate: Sendable, Hashable {
        package let scheme: String
        package let segments: [String]
        /// The names in braces, in the order of the segments.
        package let parameters: [Placeholder]
        /// Whether each `{name}` is exactly one whole segment.
        package let isExact: Bool

        package var address: String { "\(self.scheme)://\(self.segments.joined(separator: "/"))" }
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

    /// Returns the document with another title and version.
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

    /// The routes that other processes can call, or to which they can send messages.
    public static let exposed = Self(storage: .exposed)
}

extension MessageBus {
    /// Returns a description of the routes that are registered now.
    ///
    /// To create a document, the bus runs no code of the program except the `init(from:)` of parameter types
    /// and reply types. The bus passes small values to these initializers, to find the properties that they
    /// read. Until a document is created, documents have no cost. A document of 1,000 routes takes some ten
    /// milliseconds. The method may be called from any thread.
    ///
    /// - Parameters:
    ///   - title: The name of the program.
    ///   - version: The version of the program.
    ///   - scope: The routes to describe; all by default.
    /// - Returns: The document. The document depends only on the routes and the arguments.
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

    /// Returns the operations that are exposed for each of some example URLs of a pattern.
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
                // The parameters of a closure come from the pattern, and are possibly in an optional part of
                // the pattern.
                isRequired: parameter.isRequired && (route.action != nil || isInAll(parameter.name)),
                schema: parameter.defaultValue == nil ? schema : schema.orNull
            )
        }
        // A method may read values of the path from the message. The description of the method does not
        // contain these values.
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
            reply: registry.schema(of: route.replyType, named: route.reply),
            failures: route.failures,
            progress: route.progress.map { progress in
                BusDocument.Progress(
                    updateType: progress.update,
                    update: registry.schema(of: progress.updateType, named: progress.update),
                    answerType: progress.answer,
                    answer: registry.schema(of: progress.answerType, named: progress.answer)
                )
            },
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
