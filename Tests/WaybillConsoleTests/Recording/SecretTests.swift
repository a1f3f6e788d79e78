#if HTTP
import Foundation
import Logging
import Testing
import Waybill
import WaybillEventLoop
import WaybillJSON
import WaybillTestSupport

@testable import WaybillConsole

private struct Credentials: Codable, Sendable {
    var user = "lili"
    var password: String
}

private struct Refusal: Error, CustomStringConvertible {
    let description: String
}

/// The value of a hidden name does not appear in any output of the console.
@Suite(.timeLimit(.minutes(2)))
struct SecretTests {
    private static let secret = "hunter2 & co"
    /// The secret, encoded for a URL.
    private static let escaped = "hunter2%20%26%20co"

    /// Creates a bus with handlers that receive, return and print the secret.
    private func bus(tells plain: Bool) throws -> MessageBus {
        let bus = MessageBus(configuration: .quiet)
        let secret = Self.secret
        try bus.register("app://reset/:token") { message -> Int in
            throw RoutingError.refused("no user has \(message.parameters["token"] ?? "")")
        }
        try bus.register("app://login") { _ in Credentials(password: secret) }
        try bus.register("app://fails") { message -> Int in
            throw Refusal(description: "wrong: \(message.parameters["password"] ?? "")")
        }
        try bus.register("app://asks") { message -> Int in
            await message.reply(with: Credentials(password: secret))
            if plain { await message.reply(with: secret) }
            _ = try await message.reply(with: 1, expecting: Credentials.self)
            return 1
        }
        try bus.register("app://pay") { _ in Credentials(password: secret) }
        try bus.register("app://vault/:secret_name") { _ in }
        try bus.subscribe("app://topic/:token") { _ in }
        return bus
    }

    private func act(on bus: MessageBus) async {
        let (secret, escaped) = (Self.secret, Self.escaped)
        _ = await failure { try await bus.route("app://reset/\(escaped)", as: Int.self) }
        _ = try? await bus.route("app://login?Password=\(escaped)", as: Credentials.self)
        _ = try? await bus.route(
            "app://login",
            parameters: ["apiKey": secret, "user": Credentials(password: secret)],
            headers: ["Authorization": secret],
            as: Credentials.self
        )
        _ = await failure {
            try await bus.route("app://fails", parameters: ["password": secret], as: Int.self)
        }
        _ = try? await bus.route("app://asks", as: Int.self) { (update: any Sendable) in
            Credentials(password: secret)
        }
        _ = try? await bus.route("app://pay#vault/\(escaped)?token=\(escaped)", as: Credentials.self)
        // These return URLs are encoded as a whole, begin with a slash, or contain another URL.
        let encoded = "vault/\(secret)".addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        _ = try? await bus.route("app://pay#\(encoded)", as: Credentials.self)
        _ = try? await bus.route("app://pay#/vault/\(escaped)?next=http://x", as: Credentials.self)
        _ = try? await bus.route("app://login?password=a;\(escaped)?\(escaped)", as: Credentials.self)
        bus.send("app://reset/\(escaped)")
        bus.send("app://nowhere?session=\(escaped)&x=1", parameters: ["cookie": secret])
        // A replay of a dead letter that its caller awaited shows the failure.
        _ = await failure { try await bus.route("app://nowhere?session=\(escaped)", as: Int.self) }
        _ = try? await bus.publish("app://topic/\(escaped)")
        bus.send("not a url?token=\(escaped)")
    }

    @Test(arguments: [false, true])
    func `a secret in a thousand messages does not appear in any output of the console`(
        showsPayloads: Bool
    ) async throws {
        let log = Journal<String>()
        let bus = try self.bus(tells: !showsPayloads)
        let configuration = WaybillConsole.Configuration.quiet { configuration in
            configuration.showsPayloads = showsPayloads
            configuration.allowsActions = true
            configuration.lingering = .seconds(60)
            configuration.logger = Logger(label: "waybill.tests") { _ in JournalLogHandler(journal: log) }
            (configuration.recording.flowsPerRoute, configuration.recording.followers) = (1e6, 1e6)
        }
        try await ConsoleTestServer.run(bus, configuration) { server in
            let seen = try await server.watch("?rows=1000") {
                for _ in 0..<100 { await self.act(on: bus) }
            } until: { log in
                (log.number("counted") ?? 0) >= 1000 && bus.statistics.inFlight == 0
            }
            var texts = ["stream": seen.text]
            for (id, row) in seen.rows where row.member(named: "kind")?.string != "publication" {
                texts["flow \(id)"] = try await server.get("api/flows/\(id)").text
            }
            #expect(texts.count > 100)
            texts["letters"] = try await server.get("api/deadletters").text
            texts["explain"] = try await server.get("api/explain?url=app://reset/\(Self.escaped)").text
            texts["call"] =
                try await server.post(
                    "api/call",
                    #"{"url":"app://fails?password=\#(Self.escaped)","parameters":{"token":"\#(Self.secret)"}}"#
                ).text
            texts["replay"] =
                try await server.post("api/deadletters/replay", #"{"code":"noRoute","pattern":null}"#).text
            texts["routes"] = try await server.get("api/routes").text
            for (place, text) in texts {
                #expect(
                    !text.contains("hunter2"),
                    "\(place): \(text.firstRange(of: "hunter2").map { text[$0.lowerBound...].prefix(200) } ?? "")"
                )
            }
            #expect(
                texts["stream"]?.contains("password=…") == true
                    || texts["stream"]?.contains("Password=…") == true
            )
            #expect(texts["replay"]?.contains("noRoute") == true)
            #expect(log.entries.contains { $0.contains("app://fails?password=…") })
            #expect(!log.entries.contains { $0.contains("hunter2") })
        }
    }
}
#endif
