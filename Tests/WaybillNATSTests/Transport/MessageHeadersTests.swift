import Testing
import Waybill
import WaybillEventLoop
import WaybillNATSTestSupport
import WaybillTestSupport

@testable import WaybillNATS

/// The headers of messages from any client.
@Suite(.timeLimit(.minutes(1)))
struct MessageHeadersTests {
    @Test(arguments: [
        ("NATS/1.0\r\n\r\n", []), ("NATS/1.0\r\na:b\r\n\r\n", ["a=b"]),
        ("NATS/1.0\r\nA: b : c \r\ntrace: \r\nd:\te\r\n\r\n", ["A=b : c", "trace=", "d=e"]),
        ("NATS/1.0\r\na: 1\r\nb: 2\r\na: 3\r\n\r\n", ["a=1", "b=2"]),
        ("NATS/1.0\r\na: b", nil), ("NATS/1.0\r\na\r\n\r\n", nil), ("NATS/1.0\r\n: b\r\n\r\n", nil),
        ("a: b\r\n\r\n", nil), ("", nil),
    ])
    func `a block of headers is read line by line`(block: String, expected: [String]?) {
        let list = MessageHeaders(Array(block.utf8))?.list
        #expect(list?.map { "\($0.name)=\($0.value)" } == expected)
    }

    @Test(arguments: [
        ("NATS/1.0 503\r\n\r\n", "503"), ("NATS/1.0 404 No Messages\r\n\r\n", "404"),
        ("NATS/1.0\r\n\r\n", ""),
    ])
    func `the first line contains the status`(block: String, status: String) {
        #expect(MessageHeaders(Array(block.utf8))?.status == status)
    }

    #if NATS && !WAYBILL_PUBLIC_API_ONLY
    @Test func `libnats stores its messages in the order in which a node reads them`() {
        #expect(hasKnownLayout)
    }
    #endif

    @Test func `a block with more headers than the limit is rejected`() {
        func headers(_ count: Int) -> MessageHeaders? {
            let lines = (0..<count).map { "h\($0): \($0)\r\n" }.joined()
            return MessageHeaders(Array("NATS/1.0\r\n\(lines)\r\n".utf8))
        }
        #expect(headers(MessageHeaders.limit)?.list.count == MessageHeaders.limit)
        #expect(headers(MessageHeaders.limit + 1) == nil)
    }

    @Test func `a publication with more headers than a node reads is a dead letter`() async throws {
        try await withCluster(.memory) { cluster in
            _ = try await cluster.node("far") { try $0.share("app://far/**", for: .all) }
            let near = try await cluster.node("near", publicationFormat: .binaryEvents)
            #expect(await eventually { near.node.members.contains { !$0.topics.isEmpty } })
            var event = ["ce-id": "1", "ce-source": "/a", "ce-type": "t"]
            for number in 0..<MessageHeaders.limit { event["ce-a\(number)"] = "b" }
            try near.bus.expose("app://far/**", for: .all)
            _ = try await near.bus.publish(
                ExternalRequest(
                    url: "app://far/news",
                    headers: event,
                    origin: MessageOrigin(transport: "http")
                )
            )
            #expect(await eventually { near.bus.statistics.deadLettered == 1 })
        }
    }

    #if NATS
    @Test func `messages with very many header lines do not delay the calls of other nodes`() async throws {
        try await withCluster(.nats) { cluster in
            let server = try #require(cluster.server)
            let far = try await cluster.node("far", heartbeat: .seconds(10)) { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/one") { _ in 1 }
            }
            let near = try await cluster.node("near", heartbeat: .seconds(10))
            #expect(await near.knows("app://far/one"))
            // The headers have the size that a server accepts.
            let headers = "NATS/1.0\r\n" + String(repeating: "a:b\r\n", count: 209_000) + "\r\n"
            let count = headers.utf8.count
            let start = ContinuousClock.now
            let message = "HPUB waybill.test.nodes \(count) \(count)\r\n\(headers)\r\n"
            try await server.send(message, on: near.bus.eventLoop)
            #expect(await eventually { far.node.statistics.malformed == 1 })
            #expect(try await near.bus.route("app://far/one", as: Int.self) == 1)
            // libnats would need more than twenty seconds to read the headers.
            #expect(ContinuousClock.now - start < Scale.whileQuick * 4)
            #expect(await near.balances())
        }
    }
    #endif
}
