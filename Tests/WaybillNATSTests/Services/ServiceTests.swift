import Foundation
import Testing
import Waybill
import WaybillNATSTestSupport
import WaybillTestSupport

@testable import WaybillNATS

/// Nodes as other programs find them, by the services API of NATS (ADR-32).
@Suite(.timeLimit(.minutes(1)))
struct ServiceTests {
    private struct Response: Decodable {
        struct Endpoint: Decodable {
            let name: String
            let subject: String
            let queueGroup: String
            let metadata: [String: String]?
            let numRequests: Int?
            let numErrors: Int?
            let lastError: String?
            let processingTime: Int?
            let averageProcessingTime: Int?
        }

        let type: String
        let name: String
        let id: String
        let version: String
        let metadata: [String: String]
        let description: String?
        let started: String?
        let endpoints: [Endpoint]?
    }

    /// Sends a message to a subject, and returns the expected number of answers.
    private func ask(_ subject: String, _ cluster: TestCluster, count: Int) async throws -> [Response] {
        let answers = Journal<Data>()
        cluster.memory.observe { subject, _, payload in
            if subject == "_INBOX.1" { answers.add(Data(payload)) }
        }
        cluster.memory.publish(subject, "_INBOX.1", [], from: 0)
        #expect(await eventually { answers.count == count })
        cluster.memory.observe(nil)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try answers.entries.map { try decoder.decode(Response.self, from: $0) }
    }

    @Test func `the counts of subjects that a node no longer serves are forgotten`() {
        let tally = EndpointTally()
        tally.serve(["a", "b"])
        tally.begin("a")
        tally.begin("b")
        #expect(tally.counts["a"]?.requests == 1)
        tally.serve(["b", "c"])
        // A message that was sent before the subject was withdrawn arrives late.
        tally.begin("a")
        tally.end("a", after: .zero, failure: "late")
        #expect(tally.counts.mapValues(\.requests) == ["b": 1, "c": 0])
    }

    @Test func `a node answers service requests sent to all, to its name, and to its ID`() async throws {
        try await withCluster(.memory) { cluster in
            let first = try await cluster.node("the shop") { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/one/:id") { _ in 1 }
                try bus.register("app://far/broken") { _ in throw RoutingError.refused("not today") }
                try bus.register("app://private") { _ in 1 }
            }
            let second = try await cluster.node("the shop")
            let ids = [first, second].map { $0.node.core.id.description }
            #expect(await second.knows("app://far/one/:id"))
            #expect(Set(try await self.ask("$SRV.PING", cluster, count: 2).map(\.id)) == Set(ids))
            let named = try await self.ask("$SRV.PING.the_shop", cluster, count: 2)
            #expect(named.allSatisfy { $0.type == "io.nats.micro.v1.ping_response" && $0.name == "the_shop" })
            #expect(cluster.memory.subscribers(of: "$SRV.PING.the_shop") == 2)
            #expect(cluster.memory.subscribers(of: "$SRV.PING.other") == 0)
            let info = try #require(
                try await self.ask("$SRV.INFO.the_shop.\(ids[0])", cluster, count: 1).first
            )
            #expect(info.type == "io.nats.micro.v1.info_response")
            #expect(info.version == "0.0.0")
            #expect(info.metadata == ["realm": "test"])
            #expect(info.description?.isEmpty == false)
            let endpoints = try #require(info.endpoints)
            #expect(endpoints.map { $0.metadata?["pattern"] } == ["app://far/broken", "app://far/one/:id"])
            #expect(endpoints.map(\.name) == ["app___far_broken", "app___far_one__id"])
            #expect(
                endpoints.map(\.subject) == [
                    "waybill.test.call.app.far.broken", "waybill.test.call.app.far.one.%:",
                ]
            )
            #expect(endpoints.allSatisfy { $0.queueGroup == "waybill" })

            for id in 0..<3 { _ = try await second.bus.route("app://far/one/\(id)", as: Int.self) }
            _ = await failure { try await second.bus.route("app://far/broken") }
            let stats = try #require(
                try await self.ask("$SRV.STATS.the_shop.\(ids[0])", cluster, count: 1).first
            )
            #expect(stats.type == "io.nats.micro.v1.stats_response")
            #expect(stats.started?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
            #expect(stats.endpoints?.map(\.numRequests) == [1, 3])
            #expect(stats.endpoints?.map(\.numErrors) == [1, 0])
            #expect(stats.endpoints?.first?.lastError?.contains("not today") == true)
            let times = stats.endpoints?.compactMap(\.processingTime) ?? []
            #expect(times.count == 2 && times.allSatisfy { $0 > 0 })
            let averages = stats.endpoints?.compactMap(\.averageProcessingTime) ?? []
            #expect(averages == [times[0], times[1] / 3])
        }
    }

    @Test func `a node that has left, or is configured to be silent, answers no service requests`()
        async throws
    {
        try await withCluster(.memory) { cluster in
            let node = try await cluster.node("one")
            #expect(cluster.memory.subscribers(of: "$SRV.PING") == 1)
            try await node.leave()
            var configuration = ClusterNode.Configuration()
            configuration.answersServiceRequests = false
            configuration.logger = MessageBus.Configuration.quiet.logger
            let bus = MessageBus(configuration: .quiet)
            let silent = ClusterNode(
                bus,
                realm: "test",
                over: cluster.memory.transport(),
                configuration: configuration
            )
            try await silent.start()
            #expect(cluster.memory.subscribers(of: "$SRV.PING") == 0)
            silent.beginGracefulShutdown()
            try await silent.run()
            await bus.shutDown()
        }
    }

    @Test(arguments: [
        ("$SRV.PING", "PING"), ("$SRV.STATS.a.b", "STATS"), ("$SRV.OTHER", nil), ("$SRV", nil),
        ("a.$SRV.PING", nil),
    ])
    func `a service request is parsed from the second part of its subject`(subject: String, verb: String?) {
        #expect(ServiceDescription.verb(in: subject)?.rawValue == verb)
    }
}
