import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillNATSTestSupport
import WaybillTestSupport

@testable import WaybillNATS

/// Nodes that die, servers that stop, and malformed messages.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ClusterFaultTests {
    @Test func `a node is ready while it is connected, and the check ends when it leaves`() async throws {
        try await withCluster(.memory) { cluster in
            let node = try await cluster.node("near")
            #expect(await node.bus.readiness(within: .seconds(30)).isReady)
            let transport = try #require(node.transport)
            transport.take(.disconnected("the server is gone"))
            #expect(await eventually { await !node.bus.readiness(within: .seconds(30)).isReady })
            let problem = await node.bus.readiness(within: .seconds(30)).problems.first
            #expect(
                problem?.name == "cluster test" && problem?.reason == "there is no connection to a server"
            )
            transport.take(.connected)
            #expect(await eventually { await node.bus.readiness(within: .seconds(30)).isReady })
            try await node.leave()
            #expect(await node.bus.readiness(within: .seconds(30)).isReady)
        }
    }

    @Test func `a request to a node that dies fails with the name of the node`() async throws {
        try await withCluster(.memory) { cluster in
            let started = Gate()
            let far = try await cluster.node("far", heartbeat: TestCluster.shortHeartbeat) { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/stuck") { _ async throws in
                    started.reach()
                    try await Task.sleep(for: .seconds(60))
                }
            }
            let near = try await cluster.node("near", heartbeat: TestCluster.shortHeartbeat)
            #expect(await near.knows("app://far/stuck"))
            let letters = Journal<String>()
            // Create the sequence here, because the task may begin after the message has failed.
            let failed = near.bus.deadLetters
            let watch = Task {
                for await letter in failed {
                    letters.add("\(letter.error.code) \(letter.error.message)")
                }
            }
            let call = Task { try await near.bus.route("app://far/stuck") }
            await started.reached()
            near.bus.send("app://far/stuck")
            #expect(await eventually { near.node.statistics.sent == 2 })
            let transport = try #require(far.transport)
            cluster.memory.remove(transport.client)
            let error = await #expect(throws: RoutingError.self) { try await call.value }
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("far") == true)
            #expect(await eventually { letters.entries.contains { $0.hasPrefix("unreachable") } })
            #expect(near.node.members.isEmpty)
            let gone = await #expect(throws: RoutingError.self) {
                try await near.bus.route("app://far/stuck")
            }
            #expect(gone?.code == .noRoute)
            #expect(near.node.statistics.lost == 2)
            #expect(await near.balances())
            watch.cancel()
        }
    }

    @Test func `a node whose patterns exceed the size limit tells other nodes that it lost its connection`()
        async throws
    {
        try await withCluster(.memory, payloadLimit: 4096) { cluster in
            let started = Gate()
            let log = Journal<String>()
            let far = try await cluster.node("far", log: log) { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/stuck") { _ async throws in
                    started.reach()
                    try await hang()
                }
            }
            let near = try await cluster.node("near")
            #expect(await near.knows("app://far/stuck"))
            // Each change is a small message, so the other node knows all routes.
            for number in 0..<50 {
                let url = "app://far/\(String(repeating: "x", count: 100))/\(number)"
                try far.bus.register(url) { _ in number }
                #expect(await near.knows(url))
            }
            let call = Task { try await near.bus.route("app://far/stuck", timeout: .seconds(20)) }
            await started.reached()
            let transport = try #require(far.transport)
            transport.take(.disconnected("a test"))
            transport.take(.connected)
            #expect(await failure { try await call.value }?.code == .unreachable)
            #expect(near.node.members.first?.routes.count == 51)
            #expect(await eventually { log.entries.contains { $0.contains("raise max_payload") } })
            #expect(await near.balances())
        }
    }

    @Test func `a request to a node that lost its connection meanwhile fails with unreachable`() async throws
    {
        try await withCluster(.memory) { cluster in
            let (started, ended) = (Gate(), Gate())
            let far = try await cluster.node("far") { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/one") { _ in 1 }
                try bus.register("app://far/blocked") { _ async -> Int in
                    started.reach()
                    await ended.reached()
                    return 1
                }
            }
            let near = try await cluster.node("near")
            #expect(await near.knows("app://far/blocked"))
            let call = Task { try await near.bus.route("app://far/blocked", as: Int.self) }
            await started.reached()
            let transport = try #require(far.transport)
            transport.take(.disconnected("a test"))
            cluster.memory.silence(transport.client, true)
            ended.reach()
            #expect(await eventually { far.bus.statistics.inFlight == 0 })
            // The node is back before the other node has noticed its absence.
            cluster.memory.silence(transport.client, false)
            transport.take(.connected)
            let error = await #expect(throws: RoutingError.self) { try await call.value }
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("far") == true)
            #expect(near.node.members.map(\.name) == ["far"])
            #expect(try await near.bus.route("app://far/one", as: Int.self) == 1)
            #expect(await near.balances())
        }
    }

    @Test func `a request whose node leaves without an answer fails`() async throws {
        try await withCluster(.memory) { cluster in
            let started = Gate()
            let far = try await cluster.node(
                "far",
                heartbeat: TestCluster.shortHeartbeat,
                drainLimit: .milliseconds(10)
            ) { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/stuck") { _ async throws in
                    started.reach()
                    try await Task.sleep(for: .seconds(60))
                }
            }
            let near = try await cluster.node("near", heartbeat: TestCluster.shortHeartbeat)
            #expect(await near.knows("app://far/stuck"))
            let call = Task { try await near.bus.route("app://far/stuck") }
            await started.reached()
            try await far.leave()
            let error = await #expect(throws: RoutingError.self) { try await call.value }
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("far") == true)
            #expect(near.node.statistics.lost == 1)
            #expect(await near.balances())
        }
    }

    @Test func `a request that no node confirms fails with unreachable`() async throws {
        try await withCluster(.memory) { cluster in
            let far = try await cluster.node("far", heartbeat: TestCluster.shortHeartbeat) { bus in
                try bus.share("app://far")
                try bus.register("app://far") { _ in 1 }
            }
            let near = try await cluster.node("near", heartbeat: TestCluster.shortHeartbeat)
            #expect(await near.knows("app://far"))
            let transport = try #require(far.transport)
            // The server still has the subscription of the node, but its messages are lost.
            cluster.memory.silence(transport.client, true)
            let error = await #expect(throws: RoutingError.self) { try await near.bus.route("app://far") }
            #expect(error?.code == .unreachable)
            // The partition ends, and the routes are known again without a restart.
            cluster.memory.silence(transport.client, false)
            #expect(await near.knows("app://far"))
            #expect(try await near.bus.route("app://far", as: Int.self) == 1)
            #expect(await near.balances())
        }
    }

    @Test func `a call by an outdated table fails after two messages, and not at its timeout`() async throws {
        try await withCluster(.memory) { cluster in
            // No node sends a heartbeat during the test.
            let far = try await cluster.node("far", heartbeat: .seconds(60)) { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/one") { _ in 1 }
            }
            let near = try await cluster.node("near", heartbeat: .seconds(60))
            #expect(await near.knows("app://far/one"))
            let transport = try #require(far.transport)
            cluster.memory.remove(transport.client)
            let before = cluster.memory.published
            let error = await #expect(throws: RoutingError.self) { try await near.bus.route("app://far/one") }
            #expect(error?.code == .noRoute)
            // The two messages are the request, and the question whether the node still exists.
            #expect(cluster.memory.published - before == 2)
            #expect(near.node.members.isEmpty)
            for number in 0..<1000 {
                let error = await #expect(throws: RoutingError.self) {
                    try await near.bus.route("app://unknown/\(number)")
                }
                #expect(error?.code == .noRoute)
            }
            #expect(cluster.memory.published - before == 2)
        }
    }

    @Test func `calls end if the node that handles them sends answers that cannot be read`() async throws {
        try await withCluster(.memory) { cluster in
            let (held, ended, gate) = (Tally(), Journal<RoutingError.Code>(), Gate())
            let far = try await cluster.node("far") { bus in
                try bus.share("app://far/**", for: .all)
                try bus.register("app://far/held") { _ in
                    held.add()
                    await gate.wait()
                }
            }
            let near = try await cluster.node("near")
            #expect(await near.knows("app://far/held"))
            for _ in 0..<2 {
                Task {
                    if let error = await failure({ try await near.bus.route("app://far/held") }) {
                        ended.add(error.code)
                    }
                }
            }
            #expect(await eventually { held.count == 2 })
            let subjects = Subjects(realm: "test")
            let marks = String(repeating: "\u{301}", count: 40)
            let answers = Array(#"[{"jsonrpc":"2.0","id":1,"result":"\#(marks)"}]"#.utf8)
            let inbox = subjects.inbox(near.node.core.id, 0)
            let hasEnded = await eventually {
                // The calls may not be claimed yet.
                cluster.memory.publish(inbox, subjects.node(far.node.core.id), answers, from: 0)
                return ended.count == 2
            }
            #expect(hasEnded && ended.entries == [.unreachable, .unreachable], "\(ended.entries)")
            gate.open()
            #expect(await near.balances())
            #expect(await far.balances())
        }
    }

    @Test func `malformed, forged and replayed messages to a node are counted and dropped`() async throws {
        try await withCluster(.memory) { cluster in
            let (heard, calls, held, gate) = (Tally(), Tally(), Tally(), Gate())
            let far = try await cluster.node("far") { bus in
                try bus.share("app://far/**", for: .all)
                try bus.register("app://far/one") { _ in
                    calls.add()
                    return 1
                }
                try bus.register("app://far/held") { _ in
                    held.add()
                    await gate.wait()
                }
                try bus.subscribe("app://far/news") { _ in heard.add() }
            }
            let near = try await cluster.node("near")
            #expect(await near.knows("app://far/one"))
            let replayed = Journal<(String, String?, [UInt8])>()
            cluster.memory.observe { replayed.add(($0, $1, $2)) }
            #expect(try await near.bus.route("app://far/one", as: Int.self) == 1)
            try await near.bus.publish("app://far/news")
            #expect(await eventually { heard.count == 1 })
            let call = Task { try await near.bus.route("app://far/held") }
            #expect(await eventually { held.count == 1 })
            cluster.memory.observe(nil)
            for (subject, reply, payload) in replayed.entries {
                cluster.memory.publish(subject, reply, payload, from: 0)
            }
            // The node has forgotten the first request, which has ended, but not the second one.
            #expect(await eventually { calls.count == 2 })
            #expect(held.count == 1)
            let error = await #expect(throws: RoutingError.self) { try await call.value }
            #expect(error?.message.contains("a request with this ID is in flight") == true)
            gate.open()
            let subjects = Subjects(realm: "test")
            let (id, other) = (far.node.core.id, near.node.core.id)
            let garbage: [[UInt8]] = [
                [], [0], Array("{".utf8), Array("[1]".utf8), Array("null".utf8), [0xFF, 0xFE],
                Array(repeating: UInt8(ascii: "["), count: 10_000),
                Array(#"{"jsonrpc":"2.0","id":12345,"result":1}"#.utf8),
                Array(#"{"jsonrpc":"2.0","method":"$/progress","params":{"id":12345,"value":1}}"#.utf8),
                Array(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#.utf8),
            ]
            for payload in garbage {
                for node in [id, other] {
                    for subject in [
                        subjects.nodes, subjects.members(node), subjects.node(node), subjects.inbox(node, 7),
                        "waybill.test.inbox.\(node).x", "waybill.test.pub.app.far.news",
                        subjects.call(PatternShape(try RoutePattern("app://far/one"))),
                    ] {
                        cluster.memory.publish(subject, "somewhere", payload, from: 0)
                        cluster.memory.publish(subject, subjects.inbox(other, 12345), payload, from: 0)
                        cluster.memory.publish(subject, nil, payload, from: 0)
                    }
                }
            }
            #expect(try await near.bus.route("app://far/one", as: Int.self) == 1)
            #expect(
                await eventually { near.node.statistics.malformed > 0 && far.node.statistics.malformed > 0 }
            )
            #expect(near.node.statistics.unknown > 0)
            #expect(far.node.statistics.unknown > 0)
            #expect(heard.count == 1)
            // A forged publication with the greatest number does not hide the next ones of the same node.
            let publication = try #require(replayed.entries.first { $0.0.contains(".pub.") })
            cluster.memory.publish(publication.0, subjects.inbox(other, .max), publication.2, from: 0)
            #expect(await eventually { heard.count == 2 })
            // The node does not handle its own publication, which a server sends back to it.
            let unknown = far.node.statistics.unknown
            cluster.memory.publish(publication.0, subjects.inbox(id, 1), publication.2, from: 0)
            #expect(await eventually { far.node.statistics.unknown > unknown })
            try await near.bus.publish("app://far/news")
            #expect(await eventually { heard.count == 3 })
            #expect(await near.balances())
            #expect(await far.balances())
        }
    }

    @Test func `publications joined into one message let the loop poll, and are all handled in order`()
        async throws
    {
        try await withCluster(.memory) { cluster in
            let heard = Journal<Int>()
            let far = try await cluster.node("far") { bus in
                try bus.share("app://far/**", for: .publishing)
                try bus.subscribe("app://far/news") { heard.add(try $0.parameters.require("n")) }
            }
            let messages = (0..<20).map { #"{"n":\#($0)}"# }.joined(separator: ",")
            let text =
                #"{"jsonrpc":"2.0","method":"$/publish","params":{"url":"app://far/news","messages":[\#(messages)]}}"#
            let event = TransportEvent.message(
                TransportMessage(
                    subject: "waybill.test.pub.app.far.news",
                    reply: nil,
                    payload: Array(text.utf8)
                )
            )
            let (loop, core) = (far.bus.eventLoop, far.node.core)
            let (isDone, first) = await withCheckedContinuation { continuation in
                loop.execute {
                    while loop.consumeDeliveryBudget() {}
                    let isDone = core.assumeOnLoop { $0.receive(event) }
                    continuation.resume(returning: (isDone, heard.count))
                }
            }
            #expect(!isDone && first == 1)
            // A busy machine may need several turns for the rest of the messages.
            while !(await loop.run { core.assumeOnLoop { $0.receive(.remainder) } }) {}
            #expect(heard.entries == Array(0..<20))
            #expect(await far.balances())
        }
    }

    @Test func `a client outside of the cluster receives the answer at its reply subject`() async throws {
        try await withCluster(.memory) { cluster in
            _ = try await cluster.node("far") { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/one") { message async throws -> Int in
                    try await Task.sleep(for: .milliseconds(1))
                    return try message.argument("n")
                }
            }
            let answers = Journal<String>()
            cluster.memory.observe { subject, _, payload in
                if subject == "_INBOX.1" { answers.add(String(decoding: payload, as: UTF8.self)) }
            }
            let subject = Subjects(realm: "test").call(PatternShape(try RoutePattern("app://far/one")))
            #expect(subject == "waybill.test.call.app.far.one")
            let request = #"{"jsonrpc":"2.0","id":"a","method":"app://far/one","params":{"n":7}}"#
            cluster.memory.publish(subject, "_INBOX.1", Array(request.utf8), from: 0)
            #expect(await answers.comes(to: #"{"jsonrpc":"2.0","id":"a","result":7}"#))
        }
    }

    #if NATS
    @Test func `a server that hangs is noticed, and used again when it continues`() async throws {
        try await withCluster(.nats) { cluster in
            let started = Gate()
            _ = try await cluster.node("far", heartbeat: .seconds(1)) { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/one") { _ in 1 }
                try bus.register("app://far/stuck") { _ async throws in
                    started.reach()
                    try await Task.sleep(for: .seconds(60))
                }
            }
            let near = try await cluster.node("near", heartbeat: .seconds(1))
            #expect(await near.knows("app://far/stuck"))
            let call = Task { try await near.bus.route("app://far/stuck") }
            await started.reached()
            let server = try #require(cluster.server)
            server.halt()
            let start = ContinuousClock.now
            async let lateness = lateness(after: start + .seconds(3))
            let error = await #expect(throws: RoutingError.self) { try await call.value }
            #expect(error?.code == .unreachable)
            let time = ContinuousClock.now - start
            let limit = await .seconds(5) + lateness
            #expect(time < limit)
            let next = await #expect(throws: RoutingError.self) { try await near.bus.route("app://far/one") }
            #expect(next?.code == .unreachable)
            server.goOn()
            #expect(
                await eventually { (try? await near.bus.route("app://far/one", as: Int.self)) == 1 }
            )
            #expect(await near.balances())
        }
    }

    @Test func `a wrong user and an unreachable server are errors`() async throws {
        let server = try await NATSServer(arguments: ["--user", "shop", "--pass", "secret"])
        defer { server.stop() }
        for (password, isRight) in [("secret", true), ("wrong", false)] {
            var security = NATSTransport.Security()
            security.user = "shop"
            security.password = password
            let bus = MessageBus(configuration: .quiet)
            let transport = NATSTransport(servers: [server.url], realm: "test", security: security)
            let node = bus.join(transport)
            if isRight {
                try await node.start()
                node.beginGracefulShutdown()
                try await node.run()
            } else {
                let error = await #expect(throws: RoutingError.self) { try await node.start() }
                #expect(error?.code == .refused)
            }
            await bus.shutDown()
        }
        let bus = MessageBus(configuration: .quiet)
        let nothing = bus.join(NATSTransport(servers: ["nats://127.0.0.1:1"], realm: "test"))
        let error = await #expect(throws: RoutingError.self) { try await nothing.start() }
        #expect(error?.code == .unreachable)
        let plain = bus.join(NATSTransport(servers: ["nats://192.0.2.1:4222"], realm: "test"))
        let refused = await #expect(throws: RoutingError.self) { try await plain.start() }
        #expect(refused?.code == .refused)
        await bus.shutDown()
    }
    #endif
}
