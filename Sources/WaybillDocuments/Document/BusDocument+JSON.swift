internal import Waybill

// The document as JSON. Programs read the JSON to compare two versions, or to write another format.
extension BusDocument {
    /// The version of the JSON format; documents with a later version are rejected.
    private static let format = 1

    /// The document as JSON, which ``init(json:)`` reads.
    public var json: String { self.tree.written() }

    /// The document as JSON on one line, for protocols in which a message is one line.
    package var jsonLine: String { self.tree.written(isPretty: false) }

    /// Creates a document from JSON.
    ///
    /// - Parameter json: A text from ``json``.
    /// - Throws: An error that describes the first invalid part of the text.
    public init(json: String) throws {
        let tree = try JSONTree(json: json)
        guard let format = tree["waybill"]?.double, format > 0, format <= Double(Self.format) else {
            throw DocumentError.notDocument("`waybill` is not a format that this version can read")
        }
        self.title = try tree.text("title")
        self.version = try tree.text("version")
        self.routes = try tree.list("routes").map { try Route($0) }
        guard let schemas = tree["components"]?["schemas"]?.members else {
            throw DocumentError.notDocument("the object `components.schemas` is missing")
        }
        self.schemas = schemas.mapValues { ValueSchema($0) }
    }

    var tree: JSONTree {
        [
            "waybill": .int(Self.format), "title": .string(self.title), "version": .string(self.version),
            "routes": .array(self.routes.map(\.tree)), "components": ["schemas": self.schemaTree],
        ]
    }

    package var schemaTree: JSONTree { .object(self.schemas.mapValues(\.tree)) }
}

/// The reason why a text is not a document.
enum DocumentError: Error, CustomStringConvertible {
    case notDocument(String)

    var description: String {
        switch self {
        case .notDocument(let reason): "the file is not a document of a bus: \(reason)"
        }
    }
}

extension JSONTree {
    fileprivate func text(_ name: String) throws -> String {
        guard let text = self[name]?.text else {
            throw DocumentError.notDocument("the text `\(name)` is missing")
        }
        return text
    }

    fileprivate func flag(_ name: String) throws -> Bool {
        guard let flag = self[name]?.flag else {
            throw DocumentError.notDocument("`\(name)` is missing, or neither true nor false")
        }
        return flag
    }

    fileprivate func list(_ name: String) throws -> [JSONTree] {
        guard let elements = self[name]?.elements else {
            throw DocumentError.notDocument("the array `\(name)` is missing")
        }
        return elements
    }

    fileprivate func schema(_ name: String) throws -> ValueSchema {
        guard let schema = self[name], schema.members != nil else {
            throw DocumentError.notDocument("the object `\(name)` is missing")
        }
        return ValueSchema(schema)
    }
}

extension BusDocument.Route {
    var tree: JSONTree {
        var tree: JSONTree = [
            "pattern": .string(self.pattern), "parameters": .array(self.parameters.map(\.tree)),
            "reply": .string(self.replyType), "replySchema": self.reply.tree,
            "exposed": .strings(self.exposure.names), "addresses": .array(self.templates.map(\.tree)),
        ]
        tree["module"] = self.module.map { .string($0) }
        tree["action"] = self.action.map { .string($0) }
        tree["failures"] = self.failures.isEmpty ? nil : .array(self.failures.map(\.tree))
        tree["progress"] = self.progress?.tree
        tree["documentation"] = self.documentation.isEmpty ? nil : .string(self.documentation)
        return tree
    }

    fileprivate init(_ tree: JSONTree) throws {
        self.init(
            pattern: try tree.text("pattern"),
            module: tree["module"]?.text,
            action: tree["action"]?.text,
            documentation: tree["documentation"]?.text ?? "",
            parameters: try tree.list("parameters").map { try BusDocument.Parameter($0) },
            replyType: try tree.text("reply"),
            reply: try tree.schema("replySchema"),
            failures: try (tree["failures"]?.elements ?? []).map { try RouteDescription.Failure($0) },
            progress: try tree["progress"].map { try BusDocument.Progress($0) },
            exposure: ExposedOperations(names: try tree.list("exposed").compactMap(\.text)),
            templates: try tree.list("addresses").map { try BusDocument.AddressTemplate($0) }
        )
    }
}

extension BusDocument.Progress {
    fileprivate var tree: JSONTree {
        [
            "update": .string(self.updateType), "updateSchema": self.update.tree,
            "answer": .string(self.answerType), "answerSchema": self.answer.tree,
        ]
    }

    fileprivate init(_ tree: JSONTree) throws {
        self.init(
            updateType: try tree.text("update"),
            update: try tree.schema("updateSchema"),
            answerType: try tree.text("answer"),
            answer: try tree.schema("answerSchema")
        )
    }
}

extension BusDocument.Parameter {
    fileprivate var tree: JSONTree {
        var tree: JSONTree = [
            "name": .string(self.name), "type": .string(self.type), "required": .bool(self.isRequired),
            "schema": self.schema.tree,
        ]
        tree["default"] = self.defaultValue.map { .string($0) }
        return tree
    }

    fileprivate init(_ tree: JSONTree) throws {
        self.init(
            name: try tree.text("name"),
            type: try tree.text("type"),
            defaultValue: tree["default"]?.text,
            isRequired: try tree.flag("required"),
            schema: try tree.schema("schema")
        )
    }
}

extension BusDocument.AddressTemplate {
    fileprivate var tree: JSONTree {
        [
            "scheme": .string(self.scheme), "segments": .strings(self.segments), "exact": .bool(self.isExact),
            "parameters": .array(self.parameters.map(\.tree)),
        ]
    }

    fileprivate init(_ tree: JSONTree) throws {
        self.init(
            scheme: try tree.text("scheme"),
            segments: try tree.list("segments").compactMap(\.text),
            parameters: try tree.list("parameters").map { try BusDocument.Placeholder($0) },
            isExact: try tree.flag("exact")
        )
    }
}

extension BusDocument.Placeholder {
    fileprivate var tree: JSONTree {
        [
            "name": .string(self.name), "type": .string(self.type), "captured": .bool(self.isCaptured),
            "schema": self.schema.tree,
        ]
    }

    fileprivate init(_ tree: JSONTree) throws {
        self.init(
            name: try tree.text("name"),
            type: try tree.text("type"),
            isCaptured: try tree.flag("captured"),
            schema: try tree.schema("schema")
        )
    }
}

extension ExposedOperations {
    private static let named: [(name: String, operation: Self)] = [
        ("calls", .calls), ("sends", .sends), ("publishing", .publishing), ("subscribing", .subscribing),
        ("reads", .reads),
    ]

    /// The names of the operations in documents.
    package var names: [String] { Self.named.filter { self.isSuperset(of: $0.operation) }.map(\.name) }

    fileprivate init(names: [String]) {
        self = Self.named.filter { names.contains($0.name) }.reduce(into: []) { $0.formUnion($1.operation) }
    }
}

extension RouteDescription.Failure {
    fileprivate var tree: JSONTree {
        [
            "type": .string(self.name), "code": .string(self.code), "message": .string(self.message),
            "status": .int(self.status),
        ]
    }

    fileprivate init(_ tree: JSONTree) throws {
        self.init(
            name: try tree.text("type"),
            code: try tree.text("code"),
            message: try tree.text("message"),
            status: tree["status"]?.double.flatMap { Int(exactly: $0) } ?? 500
        )
    }
}
