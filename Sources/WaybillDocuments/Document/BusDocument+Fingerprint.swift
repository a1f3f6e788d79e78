extension BusDocument {
    /// A text that changes when the exposed routes change.
    ///
    /// The title, the version, documentation comments, and routes that are not exposed have no effect on the
    /// text. A generated client contains the fingerprint of its document, so that the client can check
    /// whether the server's routes have changed.
    package var fingerprint: String {
        let routes = self.routes.filter { !$0.exposure.isEmpty }.map { $0.withoutDocumentation }
        var used: [String: ValueSchema] = [:]
        var open = routes.flatMap { route in
            [route.reply, route.progress?.update, route.progress?.answer].compactMap { $0?.tree }
                + route.parameters.map(\.schema.tree)
        }
        while let tree = open.popLast() {
            for name in tree.references where used[name] == nil {
                guard let schema = self.schemas[name] else { continue }
                used[name] = schema
                open.append(schema.tree)
            }
        }
        let document = BusDocument(title: "", version: "", routes: routes, schemas: used)
        // FNV-1a with 64 bits. The hash only has to detect changes, and does not have to prevent forgery.
        let hash = document.jsonLine.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension BusDocument.Route {
    fileprivate var withoutDocumentation: Self {
        Self(
            pattern: self.pattern,
            module: self.module,
            action: self.action,
            documentation: "",
            parameters: self.parameters,
            replyType: self.replyType,
            reply: self.reply,
            failures: self.failures,
            progress: self.progress,
            exposure: self.exposure,
            templates: self.templates
        )
    }
}

extension JSONTree {
    /// The names of the schemas to which this schema refers.
    fileprivate var references: [String] {
        switch self {
        case .array(let elements): elements.flatMap(\.references)
        case .object(let members):
            members.values.flatMap(\.references) + (ValueSchema(self).referenced.map { [$0] } ?? [])
        default: []
        }
    }
}
