#if Tool

internal import Waybill

extension RouteList {
    /// A page in Markdown with a section for each module; routes without a module come last.
    var markdown: String {
        let modules = Dictionary(grouping: self.routes) { $0.module ?? "" }
        // The routes whose handlers are closures come last.
        let names = modules.keys.sorted { ($0.isEmpty ? 1 : 0, $0) < ($1.isEmpty ? 1 : 0, $1) }
        let sections = names.map { name in
            let title = name.isEmpty ? "## Other routes" : "## \(Self.escaped(name))"
            return ([title] + (modules[name] ?? []).map(self.section)).joined(separator: "\n\n")
        }
        return (["# Routes"] + sections).joined(separator: "\n\n")
    }

    private func section(_ route: RouteDescription) -> String {
        var parts = ["### `\(route.pattern.onOneLine)`"]
        if !route.documentation.isEmpty { parts.append(route.documentation) }
        if !route.parameters.isEmpty {
            let rows = route.parameters.map { parameter in
                let value =
                    parameter.defaultValue.map { "`\($0)`" } ?? (parameter.isRequired ? "required" : "none")
                return
                    "| \(Self.escaped(parameter.name)) | `\(Self.escaped(parameter.type))` | \(Self.escaped(value)) |"
            }
            parts.append(
                (["| parameter | type | default |", "| --- | --- | --- |"] + rows).joined(separator: "\n")
            )
        }
        if !route.reply.isEmpty { parts.append("Replies with `\(route.reply)`.") }
        return parts.joined(separator: "\n\n")
    }

    /// Returns a text on one line, with its vertical bars escaped, for the cell of a table.
    private static func escaped(_ text: String) -> String { text.onOneLine.replacing("|", with: "\\|") }
}

#endif
