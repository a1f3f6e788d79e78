internal import Foundation
internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

@Suite(.serialized, .timeLimit(.minutes(1)))
struct HostResolverTests {
    private static let address = StreamAddress.tcp("no-host.invalid", port: 1)

    @Test
    func `a driven loop closes after its lookups`() async throws {
        let lookups = try await onThread {
            Result {
                let loop = try EventLoop.driven(name: "driven")
                let ended = Flag()
                Task {
                    _ = try? await StreamConnection.connect(to: Self.address, on: loop)
                    ended.raise()
                }
                while unsafe loop.core.state.pointee.streams.count == 0, !ended.isRaised { loop.dispatch() }
                loop.beginShutDown()
                // The last call closes libuv's loop, which traps if a lookup uses the loop.
                while !loop.core.lifecycle.isClosed { loop.dispatch() }
                return unsafe loop.core.state.pointee.streams.count
            }
        }.get()
        #expect(lookups == 0)
    }
}
