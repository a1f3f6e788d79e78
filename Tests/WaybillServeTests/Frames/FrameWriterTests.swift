import Testing
import WaybillEventLoop
import WaybillTestSupport

@testable import WaybillServe

@Suite(.timeLimit(.minutes(1)))
struct FrameWriterTests {
    @Test
    func `a peer that leaves a few bytes unread is stalled until it reads them`() async throws {
        try await withFolder { folder in
            let loop = EventLoop(name: "writer")
            let listener = try await StreamListener.bind(.unix(folder + "/socket"), on: loop)
            let peer = try await StreamConnection.connect(to: listener.address, on: loop)
            var connections = listener.connections.makeAsyncIterator()
            let writer = FrameWriter(try #require(try await connections.next()))
            let now = ContinuousClock.now
            #expect(await writer.stalledSince(at: now) == nil)
            // The system accepts bytes until its buffers are full.
            while await writer.unsentBytes == 0 {
                await writer.enqueue([UInt8](repeating: UInt8(ascii: "x"), count: 10_000), .lines)
                await writer.flush()
            }
            #expect(await writer.unsentBytes <= 10_001)
            #expect(await writer.stalledSince(at: now) == now)
            #expect(await writer.stalledSince(at: now + .seconds(5)) == now)
            while await writer.unsentBytes > 0 { _ = try await peer.read() }
            #expect(await writer.stalledSince(at: now + .seconds(6)) == nil)
            listener.close()
            peer.close()
        }
    }
}
