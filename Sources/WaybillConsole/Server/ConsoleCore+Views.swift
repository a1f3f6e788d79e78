#if HTTP
internal import Waybill
internal import WaybillDocuments
internal import WaybillRouting

// The JSON for the views of the page.
extension ConsoleCore {
    var about: [UInt8] {
        var json = JSONFields()
        json.add("instance", self.instance)
        json.add("name", self.configuration.name)
        json.add("node", self.bus.cluster?.own.name)
        json.add("mayAct", self.configuration.allowsActions)
        json.add("showsPayloads", self.configuration.showsPayloads)
        json.add("uptime", self.recorder.seconds())
        return json.bytes
    }

    /// Returns the routes with their descriptions and mailboxes, and the schemas.
    func routeList(_ document: BusDocument) -> [UInt8] {
        let places = Dictionary(self.bus.routes.map { ($0.pattern.text, $0) }) { first, _ in first }
        let loads = Dictionary(self.bus.routeLoads.map { ($0.pattern, $0) }) { first, _ in first }
        var json = JSONFields(capacity: 16_384)
        json.add("routes", items: document.routes) { route, json in
            json.add("pattern", route.pattern)
            json.add("addresses", route.templates.map(\.address))
            json.add("module", route.module)
            json.add("action", route.action)
            json.add("documentation", route.documentation)
            json.add("fileID", places[route.pattern]?.fileID)
            json.add("line", places[route.pattern]?.line)
            json.add("exposure", route.exposure.names)
            json.add("parameters", items: route.parameters) { parameter, json in
                let isHidden = self.recorder.writer.redaction.hides(parameter.name)
                json.add("name", parameter.name)
                json.add("type", parameter.type)
                json.add("isRequired", parameter.isRequired)
                json.add(
                    "defaultValue",
                    isHidden ? parameter.defaultValue.map { _ in Redaction.mark } : parameter.defaultValue
                )
                json.add("schema", raw: parameter.schema.json)
            }
            json.add("replyType", route.replyType)
            json.add("reply", raw: route.reply.json)
            if let load = loads[route.pattern] {
                json.add("mailbox") { json in
                    json.add("waiting", load.waiting)
                    json.add("limit", load.limit)
                }
            } else {
                json.add("mailbox", raw: "null")
            }
        }
        json.add("schemas", raw: document.schemaTree.written(isPretty: false))
        return json.bytes
    }

    /// Returns the route that a URL matches and the reason, or the reason why no route matches.
    func explanation(of url: String) -> [UInt8] {
        let explanation = self.bus.explain(url)
        let shown =
            explanation.parameters.map { parameters in
                self.recorder.writer.redaction.url(
                    url,
                    path: self.recorder.catalog.pathRanges(of: parameters)
                )
            } ?? self.recorder.writer.redaction.url(url)
        var lines: [String] = []
        if let route = explanation.route {
            lines.append("matches \(route.pattern.text) (\(route.fileID):\(route.line))")
            for (name, value) in (explanation.parameters?.all ?? [:]).sorted(by: { $0.key < $1.key }) {
                let isHidden = self.recorder.writer.redaction.hides(name)
                lines.append("  \(name) = \(isHidden ? Redaction.mark : value)")
            }
        }
        if let error = explanation.error { lines.append("\(error.code): \(error.message)") }
        if !explanation.nearest.isEmpty, explanation.route == nil {
            lines.append("similar: " + explanation.nearest.joined(separator: ", "))
        }
        lines += explanation.trace
        var json = JSONFields()
        json.add("url", shown.text)
        json.add(
            "text",
            self.recorder.writer.redaction.sentence(lines.joined(separator: "\n"), without: shown.hidden)
        )
        return json.bytes
    }

    var deadLetters: [UInt8] {
        let groups = self.letters.groups
        let counted = groups.reduce(0) { $0 + $1.group.count }
        let shown = groups.reduce(0) { $0 + $1.group.letters.count }
        var json = JSONFields(capacity: 16_384)
        json.add("counted", counted)
        json.add("shown", shown)
        json.add("dropped", counted - shown)
        json.add("groups", items: groups) { item, json in
            json.add("code", item.key.code)
            json.add("pattern", item.key.pattern)
            json.add("count", item.group.count)
            json.add("letters", items: Array(item.group.letters.reversed())) { letter, json in
                json.add("id", "\(letter.id)")
                json.add("url", letter.url)
                json.add("code", letter.failure.code)
                json.add("message", letter.failure.message)
                json.add("pattern", item.key.pattern)
                json.add("time", letter.time)
                json.add("isAwaited", letter.isAwaited)
                json.add("canReplay", letter.message != nil)
                json.add("isReplayed", letter.isReplayed)
                json.add("replayedAs", letter.replayedAs.map { "\($0)" })
            }
        }
        return json.bytes
    }

    /// The nodes of the cluster, with this node first.
    var nodes: [UInt8] {
        var json = JSONFields()
        guard let cluster = self.bus.cluster else {
            json.add("joined", false)
            return json.bytes
        }
        json.add("joined", true)
        json.add("realm", cluster.realm)
        json.add("node", cluster.own.name)
        json.add("nodes", items: [cluster.own] + cluster.others) { member, json in
            json.add("name", member.name)
            json.add("id", member.id)
            json.add("patterns", member.patterns)
            json.add("isSelf", member.id == cluster.own.id)
            json.add("age", member.silence.seconds)
            json.add("isLeaving", member.isLeaving)
        }
        return json.bytes
    }
}
#endif
