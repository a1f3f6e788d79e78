import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

/// The readiness of a program for requests.
@Suite(.timeLimit(.minutes(1)))
struct ReadinessTests {
    private let bus = MessageBus(configuration: .quiet)

    @Test func `an open bus is ready, and a bus that was shut down is not`() async {
        #expect(await self.bus.readiness(within: .seconds(30)).isReady)
        _ = await self.bus.shutDown()
        let problems = await self.bus.readiness(within: .seconds(30)).problems
        #expect(problems.map(\.name) == ["bus"] && problems.map(\.reason) == ["the bus has been shut down"])
    }

    @Test func `a readiness check that fails or hangs is a problem until it is cancelled`() async {
        let cancelled = Gate()
        self.bus.addReadinessCheck("fine") { nil }
        let failing = self.bus.addReadinessCheck("database") { "no connection" }
        let hanging = self.bus.addReadinessCheck("slow") {
            do { try await hang() } catch { cancelled.open() }
            return nil
        }
        let problems = await self.bus.readiness(within: Scale.whileQuick).problems
        #expect(problems.map(\.name) == ["database", "slow"])
        #expect(problems.first?.reason == "no connection")
        await cancelled.wait()
        failing.cancel()
        hanging.cancel()
        hanging.cancel()
        #expect(await self.bus.readiness(within: .seconds(30)).isReady)
    }

    @Test func `a check that ignores its cancellation does not delay the report on readiness`() async {
        let gate = Gate()
        self.bus.addReadinessCheck("stubborn") {
            await gate.wait()
            return nil
        }
        let problems = await self.bus.readiness(within: .milliseconds(20)).problems
        #expect(problems.map(\.name).contains("stubborn"))
        gate.open()
        #expect(await self.bus.readiness(within: .seconds(30)).isReady)
    }

    @Test func `a blocked loop is a readiness problem`() async throws {
        let loops = [EventLoop(name: "first"), EventLoop(name: "second")]
        let bus = MessageBus(eventLoops: loops, configuration: .quiet)
        let gate = Gate()
        let held = Gate()
        loops[1].execute {
            held.reach()
            gate.block()
        }
        await held.reached()
        let problems = await bus.readiness(within: Scale.whileQuick).problems
        #expect(problems.map(\.name) == ["event loop 1"])
        gate.open()
        #expect(await bus.readiness(within: .seconds(30)).isReady)
    }

    @Test func `a loop that has been shut down is a readiness problem`() async {
        let loops = [EventLoop(name: "first"), EventLoop(name: "second")]
        let bus = MessageBus(eventLoops: loops, configuration: .quiet)
        await loops[1].shutDown()
        let problems = await bus.readiness(within: .seconds(30)).problems
        #expect(problems.map(\.name) == ["event loop 1"])
        #expect(problems.map(\.reason) == ["the loop has been shut down"])
    }
}
