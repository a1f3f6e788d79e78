#if NATS && os(Linux)
import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillNATSTestSupport
import WaybillTestSupport

@testable import WaybillNATS

/// The end of many subscriptions, each of which libnats drains on a thread.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ManySubscriptionsTests {
    private static let count = 2000
    private static let subjects = (0..<count).map { "waybill.test.many.\($0)" }

    /// Opens a connection that counts the messages it receives.
    private func connection(
        to server: NATSServer,
        on loop: EventLoop,
        _ received: Tally
    ) async throws
        -> NATSConnection
    {
        let connection = NATSTransport(servers: [server.url], realm: "test").connection
        try await connection.open(on: loop) { event in
            if case .message = event { received.add() }
            return true
        }
        return connection
    }

    @Test func `ending many subscriptions delivers their last messages and starts few threads`() async throws
    {
        let server = try await NATSServer()
        defer { server.stop() }
        let loop = EventLoop(name: "many")
        let received = Tally()
        let near = try await self.connection(to: server, on: loop, received)
        let far = try await self.connection(to: server, on: loop, Tally())
        for subject in Self.subjects { near.subscribe(subject, queue: nil) }
        await near.flush()
        let (before, isOver) = (try #require(Self.threadCount), Flag())
        async let peak = Self.peak(until: isOver)
        for subject in Self.subjects { #expect(far.publish(subject, reply: nil, [1], as: .membership)) }
        await far.flush()
        for subject in Self.subjects { near.unsubscribe(subject) }
        await near.flush()
        #expect(received.count == Self.count)
        isOver.raise()
        // The allowance is for other tests that run at the same time.
        let greatest = await peak
        #expect(greatest >= before / 2 && greatest < before + 400)
        for subject in Self.subjects { #expect(far.publish(subject, reply: nil, [1], as: .membership)) }
        await far.flush()
        await near.flush()
        #expect(received.count == Self.count)
        await near.close()
        await far.close()
        await loop.shutDown()
    }

    /// Returns the greatest number of threads of the process, which another thread counts.
    private static func peak(until isOver: Flag) async -> Int {
        await withCheckedContinuation { continuation in
            LoopThread.start(name: "thread count") {
                var peak = 0
                repeat {
                    peak = max(peak, Self.threadCount ?? 0)
                    usleep(1000)
                } while !isOver.isRaised
                continuation.resume(returning: peak)
            }
        }
    }

    private static var threadCount: Int? {
        try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }
}
#endif
