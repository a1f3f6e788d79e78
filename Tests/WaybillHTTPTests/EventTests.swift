#if HTTP
import NIOHTTP1
import Testing
import Waybill
import WaybillHTTP
import WaybillJSON
import WaybillTestSupport

/// Events of CloudEvents over HTTP.
@Suite(.timeLimit(.minutes(2)))
struct EventTests {
    private let bus = MessageBus(configuration: .quiet)
    private let attributes =
        "\"specversion\":\"1.0\",\"id\":\"A-1\",\"source\":\"/kettle\",\"type\":\"boiled\""
    private let headers = [
        "ce-specversion": "1.0", "ce-id": "A-1", "ce-source": "/kettle", "ce-type": "boiled",
        "ce-subject": "%E2%82%AC", "ce-tenant": "x",
    ]

    init() throws {
        try self.bus.register("app://kettle/:id") { message in
            [
                message.parameters["id"], message.headers["ce-id"], message.headers["ce-subject"],
                "\(try message.parameters.require("degrees", as: Int.self))",
            ].map { $0 ?? "-" }
        }
        try self.bus.register("app://nothing") { _ in }
        for pattern in ["app://kettle/:id", "app://nothing", "app://text"] { try self.bus.expose(pattern) }
        try self.bus.expose("app://prices/:symbol", for: [.publishing, .subscribing])
    }

    private func event(_ event: EventReader.Event?) throws -> CloudEvent {
        try CloudEvent(structured: Array((event?.data ?? "").utf8))
    }

    private func parsed(_ answer: GatewayServer.Answer) throws -> CloudEvent {
        try CloudEvent(structured: Array(answer.text.utf8))
    }

    @Test
    func `a call by a structured event is answered with a structured event`() async throws {
        try await GatewayServer.run(self.bus) { server in
            let body = "{\(self.attributes),\"subject\":\"€\",\"data\":{\"degrees\":100}}"
            let type = "application/cloudevents+json; charset=utf-8"
            let answer = try await server.send(.POST, "app/kettle/7?a=b", body: body, type: type)
            #expect(answer.status == 200)
            #expect(answer.headers.first(name: "Content-Type") == "application/cloudevents+json")
            let event = try self.parsed(answer)
            #expect(event.data == Array("[\"7\",\"A-1\",\"€\",\"100\"]".utf8))
            #expect(event["type"] == "app://kettle/:id" && event["subject"] == "app://kettle/7?a=b")
            #expect(event["source"] == "//127.0.0.1:\(server.port)" && event["id"]?.isEmpty == false)
            let nothing = try await server.send(
                .POST,
                "app/nothing",
                body: "{\(self.attributes)}",
                type: type
            )
            #expect(nothing.status == 200)
            #expect(try self.parsed(nothing).data == nil)
            let asked = try await server.send(
                .POST,
                "app/nothing",
                headers: ["Accept": "application/cloudevents+json"]
            )
            #expect(try self.parsed(asked)["type"] == "app://nothing")
        }
    }

    @Test
    func `a call by a binary event is answered with a binary event`() async throws {
        try self.bus.register("app://text") { message in
            try message.payload(as: String.self) + (message.headers["ce-datacontenttype"] ?? "")
        }
        try await GatewayServer.run(self.bus) { server in
            let body = "{\"degrees\":100}"
            let answer = try await server.send(.POST, "app/kettle/7", headers: self.headers, body: body)
            #expect(answer.status == 200 && answer.text == "[\"7\",\"A-1\",\"€\",\"100\"]")
            #expect(answer.headers.first(name: "Content-Type") == "application/json")
            #expect(answer.headers.first(name: "ce-specversion") == "1.0")
            #expect(answer.headers.first(name: "ce-type") == "app://kettle/:id")
            #expect(answer.headers.first(name: "ce-subject") == "app://kettle/7")
            let nothing = try await server.send(.POST, "app/nothing", headers: self.headers)
            #expect(nothing.status == 204 && nothing.headers.first(name: "ce-id") != nil)
            let text = try await server.send(
                .POST,
                "app/text",
                headers: self.headers,
                body: "hot",
                type: "text/plain"
            )
            #expect(text.text == "\"hottext/plain\"")
        }
    }

    @Test
    func `an invalid event is rejected, and an expired event is not delivered`() async throws {
        try await GatewayServer.run(self.bus) { server in
            let type = "application/cloudevents+json"
            let none = try await server.send(.POST, "app/nothing", body: "{\"id\":\"1\"}", type: type)
            #expect(none.status == 400 && none.text.contains("specversion"))
            var headers = self.headers
            headers["ce-subject"] = "%C0%A0"
            #expect(try await server.send(.POST, "app/nothing", headers: headers).status == 400)
            let batch = try await server.send(
                .POST,
                "app/nothing",
                body: "[]",
                type: "application/cloudevents-batch+json"
            )
            #expect(batch.status == 415)
            headers["ce-subject"] = nil
            headers["ce-expirytime"] = "2018-04-05T17:31:00Z"
            #expect(try await server.send(.POST, "app/nothing", headers: headers).status == 504)
        }
    }

    @Test
    func `GET does not publish an event`() async throws {
        let published = Tally()
        try self.bus.subscribe("app://prices/:symbol") { _ in published.add() }
        try await GatewayServer.run(self.bus) { server in
            let structured = ["Content-Type": "application/cloudevents+json"]
            for headers in [self.headers, structured, [:]] {
                let body = headers == structured ? "{\(self.attributes)}" : nil
                let type = "application/cloudevents+json"
                for method in [HTTPMethod.GET, .PUT] {
                    let path = "app/prices/ACME"
                    let headers = headers == structured ? [:] : headers
                    let answer = try await server.send(method, path, headers: headers, body: body, type: type)
                    #expect(answer.status == 405 && answer.headers.first(name: "Allow") == "POST")
                }
            }
            #expect(published.count == 0)
            let posted = try await server.send(.POST, "app/prices/ACME", headers: self.headers)
            #expect(posted.status == 204 && published.count == 1)
        }
    }

    @Test
    func `a published event reaches subscribers with its attributes and data unchanged`() async throws {
        try await GatewayServer.run(self.bus) { server in
            let events = try await server.events(.GET, "subscribe?pattern=app://prices/**&format=cloudevents")
            let plain = try await server.events(.GET, "subscribe?pattern=app://prices/**")
            let answer = try await server.send(
                .POST,
                "app/prices/ACME",
                headers: self.headers,
                body: "{\"x\":1.50}"
            )
            #expect(answer.status == 204)
            try await server.bus.publish("app://prices/NONE", parameters: ["x": 2], timeout: .seconds(60))
            let first = try self.event(await events.next())
            #expect(first["id"] == "A-1" && first["type"] == "boiled" && first["source"] == "/kettle")
            #expect(first["subject"] == "€" && first["tenant"] == "x")
            #expect(first.data == Array("{\"x\":1.50}".utf8))
            let second = try self.event(await events.next())
            #expect(second["type"] == "app://prices/**" && second["subject"] == "app://prices/NONE")
            #expect(second["source"] == "//127.0.0.1:\(server.port)" && second["expirytime"] != nil)
            // The ID contains a text of the process, because a restarted server counts from the beginning.
            #expect(second["id"]?.split(separator: "-").count == 2)
            #expect(second.data == Array("{\"**\":\"NONE\",\"x\":2}".utf8))
            #expect(try await plain.next()?.data.contains("\"url\":\"app://prices/ACME\"") == true)
            let form = "application/x-www-form-urlencoded"
            let posted = try await server.send(
                .POST,
                "app/prices/ACME",
                headers: self.headers,
                body: "a=1",
                type: form
            )
            #expect(posted.status == 204)
            #expect(try self.event(await events.next()).data == Array("a=1".utf8))
            #expect(try await server.send(.GET, "subscribe?pattern=app://prices/**&format=xml").status == 400)
        }
    }
}
#endif
