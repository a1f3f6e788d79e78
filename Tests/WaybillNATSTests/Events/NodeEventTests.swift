import Testing
import Waybill
import WaybillEventLoop
import WaybillJSON
import WaybillNATSTestSupport
import WaybillTestSupport

@testable import WaybillNATS

/// CloudEvents between nodes, and from clients outside of the cluster.
@Suite(.timeLimit(.minutes(1)))
struct NodeEventTests {
    private static let formats: [ClusterNode.PublicationFormat] = [.structuredEvents, .binaryEvents]

    private struct Heard: Equatable {
        var headers: [String: String]
        let text: String?
        let payload: String?

        init(_ message: Message) {
            self.headers = message.headers
            self.text = message.parameters["text"]
            self.payload = message.payload.flatMap { payload in
                payload as? String
                    ?? (try? message.payload(as: JSONText.self)).map {
                        String(decoding: $0.slice, as: UTF8.self)
                    }
            }
        }
    }

    @Test(arguments: TestCluster.Kind.allCases, Self.formats)
    func `a node sends publications as events, and an arriving event stays unchanged`(
        kind: TestCluster.Kind,
        format: ClusterNode.PublicationFormat
    ) async throws {
        try await withCluster(kind) { cluster in
            let heard = Journal<Heard>()
            _ = try await cluster.node("far") { bus in
                try bus.share("app://far/**", for: .all)
                try bus.subscribe("app://far/news/:day") { message in heard.add(Heard(message)) }
            }
            let near = try await cluster.node("near", publicationFormat: format)
            #expect(await eventually { near.node.members.contains { !$0.topics.isEmpty } })
            try await near.bus.publish(
                "app://far/news/a%20b?n=1",
                parameters: ["text": "50 % € \"off\""],
                headers: ["traceparent": "00-1-2-01"],
                timeout: .seconds(60)
            )
            #expect(await eventually { heard.count == 1 })
            let first = try #require(heard.entries.first)
            #expect(first.text == "50 % € \"off\"")
            #expect(first.headers["ce-subject"] == "app://far/news/a%20b?n=1")
            #expect(first.headers["ce-type"] == "app://far/news/a%20b")
            #expect(first.headers["ce-source"] == "/test/near/\(near.node.core.id)")
            #expect(first.headers["ce-datacontenttype"] == "application/json")
            #expect(first.headers["ce-expirytime"] != nil)
            #expect(first.headers["traceparent"] == "00-1-2-01")
            // Publish an event that has arrived through another transport.
            let attributes = [
                "ce-id": "7", "ce-source": "/till", "ce-type": "sold", "ce-tenant": "a % b",
                "ce-datacontenttype": "text/plain",
            ]
            try near.bus.expose("app://far/**", for: .all)
            _ = try await near.bus.publish(
                ExternalRequest(
                    url: "app://far/news/today",
                    headers: attributes,
                    payload: "50 % off",
                    origin: MessageOrigin(transport: "http")
                )
            )
            #expect(await eventually { heard.count == 2 })
            let second = try #require(heard.entries.last)
            #expect(second.headers.filter { $0.key.hasPrefix("ce-") } == attributes)
            #expect(second.payload == "50 % off")
            #expect(await near.balances())
        }
    }

    #if NATS
    @Test(arguments: [true, false])
    func `an event with an empty attribute reaches the subscribers`(isFromNode: Bool) async throws {
        try await withCluster(.nats) { cluster in
            let heard = Journal<Heard>()
            let far = try await cluster.node("far") { bus in
                try bus.share("app://far/**", for: .all)
                try bus.subscribe("app://far/news") { message in heard.add(Heard(message)) }
            }
            let near = try await cluster.node("near", publicationFormat: .binaryEvents)
            #expect(await eventually { near.node.members.contains { !$0.topics.isEmpty } })
            if isFromNode {
                try await near.bus.publish("app://far/news", headers: ["tracestate": ""])
            } else {
                let lines = ["tracestate:", "type: t", "specversion: 1.0", "id: 1", "source: /c"]
                let headers = "NATS/1.0\r\n\(lines.map { "ce-\($0)\r\n" }.joined())\r\n"
                let count = headers.utf8.count
                let message = "HPUB waybill.test.pub.app.far.news \(count) \(count)\r\n\(headers)\r\n"
                try await #require(cluster.server).send(message, on: near.bus.eventLoop)
            }
            #expect(await eventually { heard.count == 1 })
            #expect(heard.entries.first?.headers["ce-type"] == (isFromNode ? "app://far/news" : "t"))
            #expect(heard.entries.first?.headers["ce-tracestate"] == (isFromNode ? nil : ""))
            #expect(far.node.statistics.malformed == 0)
        }
    }
    #endif

    @Test(arguments: Self.formats, ["app://far/other", "https://example.com/blob", "a://b://c"])
    func `the subject of an event does not replace the URL to which the event is published`(
        format: ClusterNode.PublicationFormat,
        subject: String
    ) async throws {
        try await withCluster(.memory) { cluster in
            let heard = Journal<String>()
            _ = try await cluster.node("far") { bus in
                try bus.share("app://far/**", for: .all)
                try bus.subscribe("app://far/**") { heard.add("\($0.address.text) \($0.headers)") }
            }
            let near = try await cluster.node("near", publicationFormat: format) { bus in
                try bus.expose("app://far/news/**", for: .publishing)
            }
            #expect(await eventually { near.node.members.contains { !$0.topics.isEmpty } })
            _ = try await near.bus.publish(
                ExternalRequest(
                    url: "app://far/news/today",
                    headers: ["ce-id": "1", "ce-source": "/c", "ce-type": "t", "ce-subject": subject],
                    origin: MessageOrigin(transport: "http")
                )
            )
            #expect(await eventually { heard.count == 1 })
            let first = try #require(heard.entries.first)
            #expect(first.hasPrefix("app://far/news/today "))
            #expect(first.contains(#""ce-subject": "\#(subject)""#))
        }
    }

    @Test(arguments: Self.formats)
    func `an event without a URL reaches a URL that is too long for a subject`(
        format: ClusterNode.PublicationFormat
    ) async throws {
        try await withCluster(.memory) { cluster in
            let heard = Journal<String>()
            _ = try await cluster.node("far") { bus in
                try bus.share("app://far/**", for: .all)
                try bus.subscribe("app://far/:name") { heard.add($0.address.text) }
            }
            let near = try await cluster.node("near", publicationFormat: format) { bus in
                try bus.expose("app://far/**", for: .publishing)
            }
            #expect(await eventually { near.node.members.contains { !$0.topics.isEmpty } })
            let url = "app://far/" + String(repeating: "x", count: Subjects.limit)
            for subject in ["a blob", "app://other/" + String(repeating: "y", count: Subjects.limit)] {
                _ = try await near.bus.publish(
                    ExternalRequest(
                        url: url,
                        headers: ["ce-id": "1", "ce-source": "/c", "ce-type": "t", "ce-subject": subject],
                        origin: MessageOrigin(transport: "http")
                    )
                )
            }
            #expect(await eventually { heard.entries == [url, url] })
        }
    }

    @Test(arguments: Self.formats, ["", "a blob", "https://example.com/blob"])
    func `an event that could not be sent is a dead letter with the URL of its publication`(
        format: ClusterNode.PublicationFormat,
        subject: String
    ) async throws {
        try await withCluster(.memory) { cluster in
            let near = try await cluster.node("near", publicationFormat: format)
            let letters = Journal<String>()
            // Create the sequence here, because the task may begin after the message has failed.
            let failed = near.bus.deadLetters
            let watch = Task {
                for await letter in failed { letters.add("\(letter.url) \(letter.error.code)") }
            }
            defer { watch.cancel() }
            var attributes = ["id": "1", "source": "/c", "type": "t"]
            if !subject.isEmpty { attributes["subject"] = subject }
            let mode = try #require(format.mode)
            let (payload, headers) = CloudEvent(known: attributes, data: nil).encoded(as: mode)
            let subjects = Subjects(realm: "test")
            let message = TransportMessage(
                subject: subjects.publication(try Address("app://far/news")),
                reply: nil,
                payload: payload,
                headers: headers
            )
            let reply = subjects.inbox(near.node.core.id, 1)
            try #require(near.transport).take(
                .undelivered(reply: reply, reason: .notSent(message, "the connection is lost"))
            )
            #expect(await letters.comes(to: "app://far/news unreachable"))
        }
    }

    @Test func `a client that calls a node with an event receives an event`() async throws {
        try await withCluster(.memory) { cluster in
            let far = try await cluster.node("far") { bus in
                try bus.share("app://far/**", for: .all)
                try bus.register("app://far/double/:n") { message -> [String: Int] in
                    ["double": try message.argument("n") as Int * 2]
                }
                try bus.register("app://far/say") { message -> String in
                    "\(message.payload as? String ?? "") \(message.headers["ce-id"] ?? "")"
                }
                try bus.register("app://far/sum") { message -> Int in
                    try message.argument("a") as Int + message.argument("b")
                }
            }
            let answers = Journal<String>()
            cluster.memory.observe { subject, _, payload in
                if subject.hasPrefix("_INBOX.") { answers.add(String(decoding: payload, as: UTF8.self)) }
            }
            func ask(_ subject: String, _ payload: String, _ headers: [(name: String, value: String)]) {
                cluster.memory.publish(
                    "waybill.test.call.app.far.\(subject)",
                    "_INBOX.1",
                    Array(payload.utf8),
                    headers: headers,
                    from: 0
                )
            }
            // The URL comes from the subject of the event, or from the NATS subject.
            let double =
                #"{"specversion":"1.0","id":"1","source":"/c","type":"t","subject":"app://far/double/21"}"#
            ask("double.%:", double, [("Content-Type", "application/cloudevents+json; charset=utf-8")])
            #expect(await eventually { answers.count == 1 })
            let event = try CloudEvent(structured: Array(answers.entries[0].utf8))
            #expect(
                event["type"] == "app://far/double/:n" && event["source"]?.hasPrefix("/test/far/") == true
            )
            #expect(event["subject"] == "app://far/double/21")
            #expect(event.data == Array(#"{"double":42}"#.utf8))
            for (number, name) in ["content-type", "ce-datacontenttype", "CE-DataContentType"].enumerated() {
                ask(
                    "say",
                    "hi",
                    [
                        ("CE-SpecVersion", "1.0"), ("Ce-Id", "7%20\(number)"), ("ce-source", "/c"),
                        ("ce-type", "t"),
                        (name, "text/plain"),
                    ]
                )
                #expect(await answers.comes(to: "\"hi 7 \(number)\""))
            }
            let binary = [
                (name: "ce-specversion", value: "1.0"), ("ce-id", "8"), ("ce-source", "/c"), ("ce-type", "t"),
            ]
            ask("sum", #"{"a":40,"b":2}"#, binary)
            #expect(await answers.comes(to: "42"))
            // The limit of a server includes the headers.
            let large = String(repeating: "x", count: cluster.memory.payloadLimit - 60)
            ask("say", large, binary + [(name: "ce-datacontenttype", value: "text/plain")])
            #expect(await eventually { answers.entries.last?.contains("notTransferable") == true })
            // An invalid event and a failing handler are both reported.
            ask("sum", "{}", [("ce-specversion", "2.0")])
            #expect(await eventually { answers.entries.last?.contains("invalidParameter") == true })
            ask("sum", "{}", binary)
            #expect(await eventually { answers.entries.last?.contains("missingParameter") == true })
            ask("double.%:", "{}", binary)
            #expect(await eventually { far.node.statistics.malformed == 2 })
            #expect(await far.balances())
        }
    }

    @Test func `a node that leaves fails the event of a running handler, and cancels it`() async throws {
        try await withCluster(.memory) { cluster in
            let (handler, answers) = (Journal<String>(), Journal<String>())
            let far = try await cluster.node("far", drainLimit: .milliseconds(10)) { bus in
                try bus.share("app://far/**", for: .all)
                try bus.register("app://far/stuck") { _ async throws in
                    handler.add("begun")
                    defer { handler.add("ended") }
                    try await hang()
                }
            }
            cluster.memory.observe { subject, _, payload in
                if subject.hasPrefix("_INBOX.") { answers.add(String(decoding: payload, as: UTF8.self)) }
            }
            cluster.memory.publish(
                "waybill.test.call.app.far.stuck",
                "_INBOX.1",
                Array("{}".utf8),
                headers: [
                    ("ce-specversion", "1.0"), ("ce-id", "1"), ("ce-source", "/c"), ("ce-type", "t"),
                ],
                from: 0
            )
            #expect(await handler.comes(to: "begun"))
            try await far.leave()
            #expect(await handler.comes(to: "ended"))
            #expect(answers.count == 1)
            #expect(answers.entries.first?.contains(#""code":"unreachable""#) == true)
            #expect(answers.entries.first?.contains("has left the cluster") == true)
        }
    }

    @Test(arguments: [
        ("app.far.news", "app://far/news"), ("app.a%2Eb.%.x%20y", "app://a.b//x%20y"), ("app", "app://"),
        ("app.item.%:", nil), ("app.item.%%", nil), ("%.abcdef", nil), ("app.%FF", nil),
    ])
    func `the subject of a URL is decoded to the URL`(tail: String, url: String?) {
        let subjects = Subjects(realm: "test")
        for kind in ["pub", "call"] { #expect(subjects.url(in: "waybill.test.\(kind).\(tail)") == url) }
        #expect(subjects.url(in: "waybill.other.pub.\(tail)") == nil)
    }
}
