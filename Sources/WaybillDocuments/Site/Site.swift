internal import Waybill

extension BusDocument {
    /// The document as one HTML page, which loads and sends nothing over the network.
    var site: String {
        let modules = Dictionary(grouping: self.routes) { $0.module ?? "" }
        let names = modules.keys.sorted { ($0.isEmpty ? 1 : 0, $0) < ($1.isEmpty ? 1 : 0, $1) }
        let values = ExampleValues(self.schemas)
        var links = ""
        var sections = ""
        for name in names {
            let title = name.isEmpty ? "Other routes" : name
            let routes = modules[name] ?? []
            links += "<li><a href=\"#m-\(title.html)\">\(title.html)</a> <span>\(routes.count)</span></li>\n"
            sections += "<section id=\"m-\(title.html)\">\n<h2>\(title.html)</h2>\n"
            sections += routes.map { Self.article($0, values) }.joined()
            sections += "</section>\n"
        }
        if !self.schemas.isEmpty {
            links += "<li><a href=\"#types\">Types</a> <span>\(self.schemas.count)</span></li>\n"
            sections += "<section id=\"types\">\n<h2>Types</h2>\n"
            for (name, schema) in self.schemas.sorted(by: { $0.key < $1.key }) {
                sections += """
                    <article id="t-\(name.html)" data-text="\(name.lowercased().html)">
                    <h3><code>\(name.html)</code></h3>
                    \(Self.example(schema.tree.written()))</article>

                    """
            }
            sections += "</section>\n"
        }
        return SitePage.html
            .replacing("{{title}}", with: self.title.html)
            .replacing("{{version}}", with: self.version.html)
            .replacing("{{count}}", with: "\(self.routes.count)")
            .replacing("{{links}}", with: links)
            .replacing("{{sections}}", with: sections)
    }

    private static func article(_ route: Route, _ values: ExampleValues) -> String {
        let words =
            ([route.pattern, route.action ?? "", route.documentation, route.replyType]
            + route.parameters.map(\.name)).joined(separator: " ")
        var html =
            "<article data-text=\"\(words.lowercased().html)\">\n<h3><code>\(route.pattern.html)</code>"
        for name in route.exposure.names { html += " <span class=\"tag\">\(name)</span>" }
        html += "</h3>\n"
        for paragraph in route.documentation.split(separator: "\n\n") where !paragraph.isEmpty {
            html += "<p>\(String(paragraph).html)</p>\n"
        }
        if !route.parameters.isEmpty {
            html += "<div class=\"wide\"><table><thead><tr><th>parameter</th><th>type</th>"
            html += "<th>default</th></tr></thead><tbody>\n"
            for parameter in route.parameters {
                let value =
                    parameter.defaultValue.map { "<code>\($0.html)</code>" }
                    ?? (parameter.isRequired ? "required" : "none")
                html += "<tr><td><code>\(parameter.name.html)</code></td><td>"
                html += "\(self.type(parameter.type, parameter.schema))</td><td>\(value)</td></tr>\n"
            }
            html += "</tbody></table></div>\n"
        }
        if !route.replyType.isEmpty {
            html += "<p class=\"reply\">Replies with \(self.type(route.replyType, route.reply)).</p>\n"
        }
        if let progress = route.progress {
            let update = self.type(progress.updateType, progress.update)
            let answer = self.type(progress.answerType, progress.answer)
            html += "<p class=\"reply\">Progress replies are \(update)"
            html += progress.answer == .null ? ".</p>\n" : ", answered with \(answer).</p>\n"
        }
        let examples = RouteExamples(route, values)
        for text in [examples.swift, route.exposure.isEmpty ? nil : examples.command, examples.curl] {
            if let text { html += self.example(text) }
        }
        return html + "</article>\n"
    }

    /// Returns the name of a type as HTML, with a link to its schema if the schema has a name.
    private static func type(_ name: String, _ schema: ValueSchema) -> String {
        let tree = schema.withoutNull.tree
        let target = ValueSchema(tree).referenced ?? tree["items"].flatMap { ValueSchema($0).referenced }
        let code = "<code>\(name.html)</code>"
        return target.map { "<a href=\"#t-\($0.html)\">\(code)</a>" } ?? code
    }

    private static func example(_ text: String) -> String {
        "<div class=\"example\"><pre tabindex=\"0\">\(text.html)</pre><button type=\"button\">Copy</button></div>\n"
    }
}

extension String {
    /// The text as HTML, for use between tags or in an attribute.
    fileprivate var html: String {
        var html = ""
        for scalar in self.unicodeScalars {
            switch scalar {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\"": html += "&quot;"
            case "{": html += "&#123;"
            default: html.unicodeScalars.append(scalar)
            }
        }
        return html
    }
}
