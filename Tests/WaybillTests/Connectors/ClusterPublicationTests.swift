import Testing
import Waybill
import WaybillRouting
import WaybillTestSupport

/// Publications that arrive from another node of a cluster.
@Suite(.timeLimit(.minutes(1)))
struct ClusterPublicationTests {
    private let near = MessageBus(configuration: .quiet)
    private let far = MessageBus(configuration: .quiet)

    @Test
    func `the publication of a peer keeps its content on another node, and is not passed on`() async throws {
        let fromNear = Journal<Message>()
        let fromFar = Journal<Message>()
        let registrations = [
            try self.near.join(RecordingCluster(published: fromNear)) {},
            try self.far.join(RecordingCluster(published: fromFar)) {},
        ]
        try self.near.expose("app://news/*", for: .publishing)
        let received = Journal<Message>()
        // The node does not expose or share the URL.
        let subscription = try self.far.subscribe("app://news/:topic") { received.add($0) }
        _ = try await self.near.publish(
            ExternalRequest(
                url: "app://news/swift?page=2",
                parameters: ["text": "hi"],
                headers: ["traceparent": "00-a"],
                payload: "payload",
                origin: MessageOrigin(transport: "http", peer: "10.0.0.1")
            )
        )
        let sent = try #require(fromNear.entries.first)
        #expect(try await self.far.publishFromNode(sent) == 1)
        #expect(await eventually { received.count == 1 })
        let message = try #require(received.entries.first)
        #expect(message.address.text == "app://news/swift?page=2")
        #expect(try message.argument("text") == "hi")
        #expect(try message.payload(as: String.self) == "payload")
        #expect(message.headers == ["traceparent": "00-a"])
        #expect(message.origin == MessageOrigin(transport: "http", peer: "10.0.0.1"))
        #expect(message.hops == sent.hops)
        #expect(fromFar.count == 0)
        subscription.cancel()
        for registration in registrations { registration.cancel() }
        for bus in [self.near, self.far] {
            #expect(await bus.settles())
            await bus.shutDown()
        }
    }

    @Test func `the publication of another node fails on a bus that was shut down`() async throws {
        let published = Journal<Message>()
        let registration = try self.near.join(RecordingCluster(published: published)) {}
        _ = try await self.near.publish("app://news/swift")
        let message = try #require(published.entries.first)
        registration.cancel()
        await self.far.shutDown()
        #expect(await failure { _ = try await self.far.publishFromNode(message) }?.code == .shutDown)
        await self.near.shutDown()
    }
}

/// A cluster that records the publications of its bus.
private struct RecordingCluster: Cluster {
    let published: Journal<Message>

    nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable { 0 }

    func suggestions(for address: Address) -> [String] { [] }

    func publish(_ message: Message) -> Bool {
        self.published.add(message)
        return true
    }

    var view: ClusterView {
        let own = ClusterView.Member(name: "", id: "", patterns: [], silence: .zero, isLeaving: false)
        return ClusterView(realm: "tests", own: own, others: [])
    }
}
