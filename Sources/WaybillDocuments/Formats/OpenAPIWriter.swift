internal import Waybill
internal import WaybillJSON

/// Writes a document as OpenAPI for an HTTP gateway; version 3.2 also describes events in event streams.
struct OpenAPIWriter {
    /// The name of the schema of failures, which no type of the program has in documents.
    static let problemName = "WaybillProblem"

    private let document: BusDocument
    private let path: String
    private let hasStreams: Bool

    init(_ document: BusDocument, path: String, streams: Bool) {
        self.document = document
        self.path = path
        self.hasStreams = streams
    }

    var tree: JSONTree {
        var names = UniqueNames()
        var paths: [String: JSONTree] = [:]
        // In OpenAPI, two paths are equal if they differ only in the names of their parameters.
        var shapes: [String: String] = [:]
        for route in self.document.routes where route.exposure.isSuperset(of: .calls) {
            for template in route.templates {
                let path = "/\(template.scheme)/\(template.segments.joined(separator: "/"))"
                if let other = shapes[Self.shape(path)] {
                    let others = paths[other]?["x-waybill-others"]?.elements ?? []
                    paths[other]?["x-waybill-others"] = .array(others + [.string(route.pattern)])
                } else {
                    shapes[Self.shape(path)] = path
                    paths[path] = self.item(route, template: template, name: names.name(for: template))
                }
            }
        }
        return [
            "openapi": self.hasStreams ? "3.2.0" : "3.1.0",
            "info": ["title": .string(self.document.title), "version": .string(self.document.version)],
            "servers": [["url": .string(self.path.isEmpty ? "/" : self.path)]],
            "paths": .object(paths),
            "components": ["schemas": self.schemas, "responses": .object(Self.problems)],
        ]
    }

    private var schemas: JSONTree {
        var schemas = self.document.schemaTree
        schemas[Self.problemName] = Self.problem
        return schemas
    }

    private static func shape(_ path: String) -> String {
        var shape = ""
        var depth = 0
        for character in path {
            if character == "{" { depth += 1 }
            if depth == 0 || character == "{" { shape.append(character) }
            if character == "}" { depth -= 1 }
        }
        return shape
    }

    private func item(
        _ route: BusDocument.Route,
        template: BusDocument.AddressTemplate,
        name: String
    ) -> JSONTree {
        var item: JSONTree = ["x-waybill-pattern": .string(route.pattern)]
        let segments = template.parameters.map { placeholder -> JSONTree in
            [
                "name": .string(placeholder.name), "in": "path", "required": true,
                "schema": route.schema(of: placeholder).tree,
            ]
        }
        if !segments.isEmpty { item["parameters"] = .array(segments) }
        let others = route.parameters(besides: template)
        var post = self.operation(route, "\(name).post")
        if !others.isEmpty {
            let schema = ValueSchema.object(of: others).tree
            post["requestBody"] = [
                "required": .bool(others.contains(where: \.isRequired)),
                "content": ["application/json": ["schema": schema]],
            ]
        }
        item["post"] = post
        guard route.exposure.isSuperset(of: .reads), let query = self.query(others) else { return item }
        var get = self.operation(route, "\(name).get")
        if !query.isEmpty { get["parameters"] = .array(query) }
        item["get"] = get
        return item
    }

    /// Returns parameters as parameters of a query; nil if a required parameter cannot be text in a query.
    private func query(_ parameters: [BusDocument.Parameter]) -> [JSONTree]? {
        var query: [JSONTree] = []
        for parameter in parameters {
            let schema = ValueSchema(parameter.describedSchema.tree).withoutNull
            guard self.isText(schema) else {
                if parameter.isRequired { return nil }
                continue
            }
            query.append([
                "name": .string(parameter.name), "in": "query", "required": .bool(parameter.isRequired),
                "schema": schema.tree,
            ])
        }
        return query
    }

    private func isText(_ schema: ValueSchema, depth: Int = 8) -> Bool {
        // A type may refer to itself.
        guard depth > 0 else { return false }
        let named = schema.referenced.map { self.document.schemas[$0]?.tree ?? [:] }
        if let inner = named ?? schema.tree["items"] ?? schema.tree["allOf"]?.elements?.first {
            return self.isText(ValueSchema(inner), depth: depth - 1)
        }
        return ["string", "integer", "number", "boolean"].contains(schema.tree["type"])
    }

    private func operation(_ route: BusDocument.Route, _ name: String) -> JSONTree {
        var tree: JSONTree = ["operationId": .string(name), "responses": .object(self.responses(route))]
        if !route.summary.isEmpty { tree["summary"] = .string(route.summary) }
        if !route.details.isEmpty { tree["description"] = .string(route.details) }
        if let module = route.module { tree["tags"] = [.string(module)] }
        return tree
    }

    private func responses(_ route: BusDocument.Route) -> [String: JSONTree] {
        var responses = Dictionary(
            uniqueKeysWithValues: Self.problems.keys.map { name -> (String, JSONTree) in
                (
                    name == "Problem" ? "default" : String(name.dropFirst(7)),
                    ["$ref": .string("#/components/responses/\(name)")]
                )
            }
        )
        for (status, failures) in Dictionary(grouping: route.failures, by: \.status) {
            responses["\(status)"] = Self.response(status, failures)
        }
        let stream = ["text/event-stream": self.stream(route)]
        if route.reply == .null {
            responses["204"] = ["description": "The handler has replied without a value."]
            responses["200"] = [
                "description": "The stream of events, for a client that accepts `text/event-stream`.",
                "content": .object(stream),
            ]
            return responses
        }
        responses["200"] = [
            "description": .string("The reply: \(route.replyType.isEmpty ? "any value" : route.replyType)."),
            "content": .object(stream.merging(["application/json": ["schema": route.reply.tree]]) { $1 }),
        ]
        if route.reply.isOpaque { responses["204"] = ["description": "The reply has no value."] }
        return responses
    }

    private func stream(_ route: BusDocument.Route) -> JSONTree {
        guard self.hasStreams else {
            return [
                // The schema has no type, because some readers apply the type to each event.
                "schema": [
                    "description": "Events `progress`, and then `reply` or `failure`, whose data are JSON."
                ]
            ]
        }
        func event(_ name: String, _ data: JSONTree) -> JSONTree {
            [
                "type": "object", "required": ["event", "data"],
                "properties": [
                    "event": ["const": .string(name)],
                    "data": [
                        "type": "string", "contentMediaType": "application/json", "contentSchema": data,
                    ],
                ],
            ]
        }
        return [
            "itemSchema": [
                "oneOf": [
                    event("progress", route.progress?.update.tree ?? [:]), event("reply", route.reply.tree),
                    event("failure", ValueSchema.reference(Self.problemName).tree),
                ]
            ]
        ]
    }

    private static var problem: JSONTree {
        [
            "type": "object", "description": "A failure (RFC 9457).",
            "required": ["type", "title", "status", "detail"],
            "properties": [
                "type": ["type": "string"], "title": ["type": "string"], "detail": ["type": "string"],
                "status": ["type": "integer", "minimum": 400, "maximum": 599],
                "code": [
                    "type": "string",
                    "description":
                        "The error code of the bus. It is missing if the gateway produced the error.",
                ],
                "id": [
                    "type": "string", "description": "The number under which the server's log has the cause.",
                ],
                "suggestions": [
                    "type": "array", "items": ["type": "string"],
                    "description": "Similar exposed patterns, if no route matches the URL.",
                ],
            ],
        ]
    }

    /// Returns the response for an HTTP status that a route uses for its declared errors.
    private static func response(_ status: Int, _ failures: [RouteDescription.Failure]) -> JSONTree {
        let sentences = failures.map { "`\($0.name).\($0.code)`: \($0.message)." }
        let codes = RoutingError.Code.all.filter { $0.httpStatus == status && status != 500 }.map(
            \.description
        )
        let others = codes.isEmpty ? [] : ["Other codes: \(codes.sorted().joined(separator: ", "))."]
        let error: JSONTree = [
            "type": "object", "required": ["type", "code", "status", "value"],
            "properties": [
                "type": ["type": "string", "examples": .strings(Set(failures.map(\.name)).sorted())],
                "code": ["type": "string", "examples": .strings(failures.map(\.code))],
                "status": ["const": .int(status)], "value": [:],
            ],
        ]
        let schema: JSONTree = [
            "allOf": [
                ValueSchema.reference(Self.problemName).tree, ["properties": ["error": error]],
            ]
        ]
        return [
            "description": .string((sentences + others).joined(separator: " ")),
            "content": ["application/problem+json": ["schema": schema]],
        ]
    }

    /// The descriptions of the gateway's own errors, which have no error code of the bus, by HTTP status.
    private static let ownProblems: [Int: String] = [
        405: "The route may change something, so it must be called with POST.", 413: "The body is too large.",
        415: "The body is neither JSON nor a form, by its Content-Type.",
        421: "The `Host` header does not name a host of this server.",
    ]

    /// The error responses: `Problem` by default, or for example `Problem404` with the codes of status 404.
    private static let problems: [String: JSONTree] = {
        func response(_ description: String, _ codes: [String]) -> JSONTree {
            var schema: JSONTree = ValueSchema.reference(Self.problemName).tree
            if !codes.isEmpty {
                schema = ["allOf": [schema, ["properties": ["code": ["examples": .strings(codes)]]]]]
            }
            return [
                "description": .string(description),
                "content": ["application/problem+json": ["schema": schema]],
            ]
        }
        var problems = ["Problem": response("A failure.", [])]
        let codes = Dictionary(grouping: RoutingError.Code.all, by: \.httpStatus)
        for (status, codes) in codes {
            let names = codes.map(\.description).sorted()
            problems["Problem\(status)"] = response("Codes: \(names.joined(separator: ", ")).", names)
        }
        for (status, description) in OpenAPIWriter.ownProblems {
            problems["Problem\(status)"] = response(description, [])
        }
        return problems
    }()
}
