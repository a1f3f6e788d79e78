#if HTTP
import HTTPTypes
import Hummingbird
import NIOCore
import Testing
import WaybillTestSupport

@testable import WaybillHTTP

/// Responses whose head the server cannot write, because the client reads nothing.
@Suite(.timeLimit(.minutes(1)))
struct UnsentContentTests {
    private struct Writer: ResponseBodyWriter {
        mutating func write(_ buffer: ByteBuffer) async throws {}

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    private static let request = Request(
        head: HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/"),
        body: RequestBody(buffer: ByteBuffer())
    )

    private func streams(stallTime: Duration) -> EventStreams {
        EventStreams(
            limit: 1,
            heartbeat: .seconds(1),
            stallTime: stallTime,
            isHTTP2: false,
            watchesConnections: false
        )
    }

    @Test
    func `a stream whose head is not written gives its place back after a time`() async throws {
        let streams = self.streams(stallTime: .milliseconds(50))
        let response = streams.response(to: Self.request, at: try streams.take(for: nil)) { _ in }
        #expect(await eventually { (try? streams.take(for: nil)) != nil })
        await #expect(throws: StalledStream.self) { try await response.body.write(Writer()) }
    }

    @Test
    func `a stream whose head is written in time keeps its place until its end`() async throws {
        let streams = self.streams(stallTime: .seconds(600))
        let (isFree, gate) = (Journal<Bool>(), Gate())
        let response = streams.response(to: Self.request, at: try streams.take(for: nil)) { _ in
            isFree.add((try? streams.take(for: nil)) != nil)
            await gate.wait()
        }
        async let written: Void = response.body.write(Writer())
        #expect(await eventually { isFree.entries == [false] })
        gate.open()
        try await written
        #expect((try? streams.take(for: nil)) != nil)
    }

    @Test
    func `a response that the server drops gives its place back at once`() throws {
        let streams = self.streams(stallTime: .seconds(600))
        _ = streams.response(to: Self.request, at: try streams.take(for: nil)) { _ in }
        #expect((try? streams.take(for: nil)) != nil)
    }

    @Test
    func `a large reply whose head is not written no longer counts after a time`() async throws {
        let unread = UnreadReplies(byteLimit: 150_000, limitsClients: false, stallTime: .milliseconds(50))
        let reply = [UInt8](repeating: 0x78, count: 100_000)
        let body = try unread.body(reply, for: nil)
        #expect(await eventually { (try? unread.body(reply, for: nil)) != nil })
        await #expect(throws: StalledStream.self) { try await body.write(Writer()) }
    }
}
#endif
