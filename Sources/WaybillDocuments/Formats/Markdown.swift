internal import Waybill

extension BusDocument {
    /// The document as Markdown: a section for each module, a section for the routes whose handlers are
    /// closures, and a section for types.
    var markdown: String {
        let modules = Dictionary(grouping: self.routes) { $0.module ?? "" }
        // The routes whose handlers are closures come last.
        let names = modules.keys.sorted { ($0.isEmpty ? 1 : 0, $0) < ($1.isEmpty ? 1 : 0, $1) }
        var parts = ["# \(self.title.onOneLine)", "Version \(self.version.onOneLine)"]
        for name in names {
            parts.append(name.isEmpty ? "## Other routes" : "## \(Self.cell(name))")
            for route in modules[name] ?? [] { parts += Self.section(route) }
        }
        if !self.schemas.isEmpty { parts.append("## Types") }
        for (name, schema) in self.schemas.sorted(by: { $0.key < $1.key }) {
            parts += ["### \(name)", "```json\n\(schema.tree.written())\n```"]
        }
        return parts.joined(separator: "\n\n")
    }

    private static func section(_ route: Route) -> [String] {
        var parts = ["### `\(route.pattern.onOneLine)`"]
        if !route.documentation.isEmpty { parts.append(route.documentation) }
        if !route.parameters.isEmpty {
            let rows = route.parameters.map { parameter in
                let value =
                    parameter.defaultValue.map { "`\($0)`" } ?? (parameter.isRequired ? "required" : "none")
                return
                    "| \(self.cell(parameter.name)) | `\(self.cell(parameter.type))` | \(self.cell(value)) |"
            }
            parts.append(
                (["| parameter | type | default |", "| --- | --- | --- |"] + rows).joined(separator: "\n")
            )
        }
        var reply = route.replyType.isEmpty ? [] : ["Replies with `\(route.replyType.onOneLine)`."]
        if let progress = route.progress {
            let answer = progress.answer == .null ? "" : ", answered with `\(progress.answerType.onOneLine)`"
            reply.append("Progress replies are `\(progress.updateType.onOneLine)`\(answer).")
        }
        if !route.exposure.isEmpty {
            reply.append("Exposed for \(route.exposure.names.joined(separator: ", ")).")
        }
        if !reply.isEmpty { parts.append(reply.joined(separator: " ")) }
        return parts
    }

    /// Returns a text without line breaks and with escaped vertical bars, for the cell of a table.
    private static func cell(_ text: String) -> String { text.onOneLine.replacing("|", with: "\\|") }
}
