#if Tool

internal import Waybill

/// A route in the JSON form of a list of routes.
struct RouteRecord: Encodable {
    struct Parameter: Encodable {
        let name: String
        let type: String
        let `default`: String?
        let required: Bool
    }

    let pattern: String
    let module: String?
    let action: String?
    let parameters: [Parameter]
    let reply: String?
    let documentation: String?

    init(_ route: RouteDescription) {
        self.pattern = route.pattern
        self.module = route.module
        self.action = route.action
        self.parameters = route.parameters.map {
            Parameter(name: $0.name, type: $0.type, default: $0.defaultValue, required: $0.isRequired)
        }
        self.reply = route.reply.isEmpty ? nil : route.reply
        self.documentation = route.documentation.isEmpty ? nil : route.documentation
    }
}

#endif
