internal import Waybill
internal import WaybillJSON

/// Writes a document as AsyncAPI 3.0.
///
/// In AsyncAPI, a route is an operation that receives a message. The replies are a channel without an
/// address, with three kinds of messages: the reply, progress replies, and failures. Each kind has a constant
/// `kind` in its payload, because a message must be valid for exactly one of the three schemas.
struct AsyncAPIWriter {
    private let document: BusDocument

    init(_ document: BusDocument) { self.document = document }

    var tree: JSONTree {
        var names = UniqueNames(reservesReplies: true)
        var channels: [String: JSONTree] = [:]
        var operations: [String: JSONTree] = [:]
        for route in self.document.routes {
            for template in route.templates {
                let name = names.name(for: template)
                channels[name] = self.channel(route, template)
                channels["\(name).reply"] = Self.replyChannel(route)
                operations[name] = Self.operation(route, name)
            }
        }
        return [
            "asyncapi": "3.0.0", "defaultContentType": "application/json",
            "info": ["title": .string(self.document.title), "version": .string(self.document.version)],
            "channels": .object(channels), "operations": .object(operations),
            "components": [
                "schemas": self.document.schemaTree,
                "messages": ["Progress": Self.progress(nil), "Failure": Self.failure],
            ],
        ]
    }

    private static func operation(_ route: BusDocument.Route, _ name: String) -> JSONTree {
        func message(_ channel: String, _ message: String) -> JSONTree {
            ["$ref": .string("#/channels/\(channel)/messages/\(message)")]
        }
        let reply = "\(name).reply"
        var tree: JSONTree = [
            "action": "receive", "channel": ["$ref": .string("#/channels/\(name)")],
            "messages": [message(name, "Call")],
            "reply": [
                "channel": ["$ref": .string("#/channels/\(reply)")],
                "messages": .array(["Value", "Progress", "Failure"].map { message(reply, $0) }),
            ],
            "x-waybill-exposed": .strings(route.exposure.names),
        ]
        if !route.summary.isEmpty { tree["summary"] = .string(route.summary) }
        if !route.details.isEmpty { tree["description"] = .string(route.details) }
        if let module = route.module { tree["tags"] = [["name": .string(module)]] }
        return tree
    }

    private func channel(
        _ route: BusDocument.Route,
        _ template: BusDocument.AddressTemplate
    ) -> JSONTree {
        var tree: JSONTree = [
            "address": .string(template.address), "x-waybill-pattern": .string(route.pattern),
            "messages": [
                "Call": [
                    "name": "Call",
                    "payload": ValueSchema.object(of: route.parameters(besides: template)).tree,
                ]
            ],
        ]
        if !template.isExact {
            let sentence =
                "The exact pattern is `\(route.pattern)`; the names in braces do not express its constraints."
            tree["description"] = .string(sentence)
        }
        if !template.parameters.isEmpty {
            let parameters = template.parameters.map { ($0.name, self.parameter($0, of: route)) }
            tree["parameters"] = .object(Dictionary(parameters) { first, _ in first })
        }
        return tree
    }

    private func parameter(
        _ placeholder: BusDocument.Placeholder,
        of route: BusDocument.Route
    ) -> JSONTree {
        let declared = route.schema(of: placeholder)
        // The schema of an enumeration is in the components.
        let schema = declared.referenced.flatMap { self.document.schemas[$0]?.tree } ?? declared.tree
        var tree: JSONTree = [:]
        let values = (schema["enum"]?.elements ?? []).compactMap(\.text)
        if !values.isEmpty { tree["enum"] = .strings(values) }
        let type = route.parameters.first { $0.name == placeholder.name }?.type ?? placeholder.type
        let expression = schema["x-waybill-regex"]?.text.map { " matched by `\($0)`" } ?? ""
        let several = placeholder.type == "path" ? ", one segment or more" : ""
        tree["description"] = .string("\(type)\(expression)\(several)")
        return tree
    }

    private static func replyChannel(_ route: BusDocument.Route) -> JSONTree {
        [
            "address": .null,
            "messages": [
                "Value": ["name": "Value", "payload": self.payload("value", ["value": route.reply.tree])],
                "Progress": route.progress.map { Self.progress($0) }
                    ?? ["$ref": "#/components/messages/Progress"],
                "Failure": self.failure(of: route),
            ],
        ]
    }

    /// Returns the failure message of a route, with the errors that the route declares as examples.
    private static func failure(of route: BusDocument.Route) -> JSONTree {
        guard !route.failures.isEmpty else { return ["$ref": "#/components/messages/Failure"] }
        let examples = route.failures.map { failure -> JSONTree in
            [
                "name": .string("\(failure.name).\(failure.code)"),
                "payload": [
                    "kind": "failure", "code": "handlerFailed", "message": .string(failure.message),
                    "error": [
                        "type": .string(failure.name), "code": .string(failure.code),
                        "status": .int(failure.status),
                    ],
                ],
            ]
        }
        var tree = self.failure
        tree["examples"] = .array(examples)
        return tree
    }

    /// Returns the message of the progress replies; without declared types, a message for any value.
    private static func progress(_ declared: BusDocument.Progress?) -> JSONTree {
        let value: JSONTree =
            declared?.update.tree
            ?? ["description": "The value that the handler sends", "x-waybill-opaque": "progress"]
        var tree: JSONTree = [
            "name": "Progress",
            "summary": "A progress reply, which a handler may send before the last reply.",
            "payload": self.payload("progress", ["value": value]),
        ]
        tree["x-waybill-answer"] = declared?.answer.tree
        return tree
    }

    private static var failure: JSONTree {
        let codes = RoutingError.Code.all.map(\.description).sorted()
        return [
            "name": "Failure", "summary": "The error of a failed request. Later versions may add codes.",
            "payload": self.payload(
                "failure",
                ["code": ["type": "string", "examples": .strings(codes)], "message": ["type": "string"]]
            ),
        ]
    }

    /// Returns the schema of an object with a constant `kind`.
    private static func payload(_ kind: String, _ members: [String: JSONTree]) -> JSONTree {
        var properties = members
        properties["kind"] = ["const": .string(kind), "type": "string"]
        return [
            "type": "object", "properties": .object(properties),
            "required": .strings(properties.keys.sorted()),
        ]
    }
}
