import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@testable import WaybillServe

/// Subscriptions to the bus of another process.
@Suite(.timeLimit(.minutes(1)))
struct SubscriptionTests {
    private static var quick: RPCConnector.Configuration {
        var configuration = RPCConnector.Configuration()
        configuration.firstPause = .milliseconds(1)
        configuration.longestPause = .milliseconds(20)
        return configuration
    }

    @Test func `a subscription reports a gap after a message that the server cannot send`() async throws {
        try await withServer { served in
            try served.bus.expose("app://news/**", for: .subscribing)
            let seen = Journal<String>()
            let (address, bus) = (served.address, served.bus)
            let reading = Task {
                let messages = RPCSubscription("app://news/:topic", at: address, configuration: Self.quick)
                for try await message in messages { seen.add("\(message.url) \(message.isAfterGap)") }
            }
            defer { reading.cancel() }
            let hasBegun = await eventually {
                _ = try? await bus.publish("app://news/first")
                return seen.entries.contains("app://news/first false")
            }
            #expect(hasBegun)
            let marks = "e" + String(repeating: "\u{301}", count: 40)
            try await bus.publish("app://news/second", parameters: ["text": marks])
            try await bus.publish("app://news/\(marks)")
            try await bus.publish("app://news/third")
            #expect(await seen.comes(to: "app://news/third true"))
            #expect(!seen.entries.contains { $0.contains("second") || $0.contains("e\u{301}") })
        }
    }

    @Test func `a subscription delivers messages, also after the server has restarted`()
        async throws
    {
        try await withFolder { folder in
            let bus = MessageBus(configuration: .quiet)
            try bus.expose("app://news/**", for: .subscribing)
            let seen = Journal<String>()
            let reading = Task {
                let path = StreamAddress.unix(folder + "/socket")
                while !Task.isCancelled {
                    // The first connection fails until the server listens.
                    do {
                        for try await message in RPCSubscription(
                            "app://news/:topic",
                            at: path,
                            configuration: Self.quick
                        ) {
                            let text = try message.parameter("text", as: String.self) ?? ""
                            seen.add("\(message.url) \(text) \(message.isAfterGap)")
                        }
                    } catch {
                        try? await Task.sleep(for: .milliseconds(10))
                    }
                }
            }
            for (topic, isAfterGap) in [("tea", false), ("milk", true)] {
                let server = RPCServer(bus, listening: .unix(folder + "/socket"), configuration: .quiet)
                try await server.start()
                let task = Task { try await server.run() }
                let expected = "app://news/\(topic) größe \(isAfterGap)"
                let arrives = await eventually {
                    _ = try? await bus.publish("app://news/\(topic)", parameters: ["text": "größe"])
                    return seen.entries.contains(expected)
                }
                #expect(arrives, "\(seen.entries)")
                task.cancel()
                try? await task.value
            }
            reading.cancel()
            await bus.shutDown()
        }
    }

    @Test func `the end of an earlier connection does not end a subscription`() async throws {
        try await withFolder { folder in
            let bus = MessageBus(configuration: .quiet)
            try bus.expose("app://news", for: .subscribing)
            let address = StreamAddress.unix(folder + "/socket")
            let client = RPCClient(address, Self.quick)
            let heard = Journal<String?>()
            for isFirst in [true, false] {
                let server = RPCServer(bus, listening: address, configuration: .quiet)
                try await server.start()
                let task = Task { try await server.run() }
                if isFirst {
                    _ = try await client.request("$/ping")
                    await client.takeMessages { heard.add($0) }
                } else {
                    var options = RPCRequestOptions()
                    options.parameters = #"{"pattern":"app://news"}"#
                    _ = try await client.request("$/subscribe", options)
                    try await bus.publish("app://news")
                    #expect(await eventually { heard.count > 0 })
                    #expect(heard.entries.first??.contains("app://news") == true, "\(heard.entries)")
                    client.close()
                }
                task.cancel()
                try await task.value
            }
            await bus.shutDown()
        }
    }

    @Test func `a value with line breaks cannot insert a message into the connection of a subscriber`()
        async throws
    {
        try await withServer { served in
            try served.bus.expose("app://news", for: [.publishing, .subscribing])
            let lines = try await served.client()
            try await lines.send(
                #"{"jsonrpc":"2.0","id":1,"method":"$/subscribe","params":{"pattern":"app://news"}}"#
            )
            #expect(try await lines.line() != nil)
            // A peer whose messages have headers may send line breaks.
            let value = #"[1,"# + "\n" + #"{"jsonrpc":"2.0","id":2,"result":"FORGED"}"# + "\n]"
            let params = #"{"url":"app://news","parameters":{"text":\#(value)}}"#
            let publication = #"{"jsonrpc":"2.0","method":"$/publish","params":\#(params)}"#
            let author = try await served.client()
            try await author.connection.write(FrameReader.Framing.headers.frame(Array(publication.utf8)))
            let line = try #require(try await lines.line())
            #expect(json(line)["method"] as? String == "$/message" && line.contains("FORGED"))
            try await lines.send(#"{"jsonrpc":"2.0","id":3,"method":"$/ping"}"#)
            #expect(try await lines.line()?.contains("pong") == true)
        }
    }

    @Test func `a message after dropped messages is marked in a subscription`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.messagesPerSubscription = 2
        let loop = EventLoop(configuration: EventLoop.Configuration(timeSlice: .seconds(3600)))
        try await withServer(configuration: configuration, eventLoop: loop) { served in
            let bus = served.bus
            try bus.expose("app://news", for: .subscribing)
            // The publications follow each other on the loop, so that the server drops most of them.
            try bus.register("app://burst") { [weak bus] _ async throws in
                for number in 0..<100 { try await bus?.publish("app://news", parameters: ["n": number]) }
            }
            let started = Gate()
            let reading = Task {
                var seen: [(number: Int, isAfterGap: Bool)] = []
                for try await message in RPCSubscription("app://news", at: served.address) {
                    let number = try message.parameter("n", as: Int.self) ?? -1
                    if number < 0 { started.open() } else { seen.append((number, message.isAfterGap)) }
                    if number == 99 { break }
                }
                return seen
            }
            let isSubscribed = try await eventually { try await bus.publish("app://news") == 1 }
            #expect(isSubscribed)
            await started.wait()
            try await bus.route("app://burst")
            // A message is marked if and only if messages before it are missing.
            var next = 0
            let seen = try await reading.value
            #expect(seen.contains { $0.isAfterGap })
            for message in seen {
                #expect(message.isAfterGap == (message.number != next), "\(message), but expected \(next)")
                next = message.number + 1
            }
            #expect(next == 100)
        }
    }

    @Test func `subscribing to a pattern that is not exposed fails with the server's error`() async throws {
        try await withServer { served in
            let subscription = RPCSubscription("app://hidden/*", at: served.address)
            let error = await #expect(throws: RoutingError.self) {
                for try await _ in subscription { Issue.record("a message arrives") }
            }
            #expect(error?.code == .noRoute)
        }
    }

    @Test func `the fingerprint of a server's routes changes when a route is exposed`() async throws {
        try await withServer { served in
            let connector = RPCConnector(served.address)
            let before = try await connector.fingerprint()
            #expect(try await connector.fingerprint() == before)
            try served.bus.register("app://new") { _ in 1 }
            try served.bus.expose("app://new")
            #expect(try await connector.fingerprint() != before)
        }
    }
}
