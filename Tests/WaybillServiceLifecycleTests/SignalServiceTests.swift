#if ServiceLifecycle
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing
import Waybill
import WaybillEventLoop
import WaybillServiceLifecycle

#if canImport(Darwin)
import Darwin
#else
import Glibc
import WaybillTestSupport
#endif

@Suite(.serialized, .timeLimit(.minutes(1))) struct SignalServiceTests {
    private let bus = MessageBus()
    /// Signals that do not end the process when nothing waits for them.
    ///
    /// A signal may arrive before the service waits for it, or after the service has ended.
    private static let ending = Signal(number: SIGURG)
    private static let handled = Signal(number: SIGCONT)

    /// Sends a signal to the process repeatedly until a condition holds, because the service may not wait for
    /// it yet.
    private func send(_ signal: Signal, until isDone: () async -> Bool) async throws {
        while await !isDone() {
            kill(getpid(), signal.number)
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    @Test func `an ending signal ends the service group, and shuts the bus down`() async throws {
        let signals = SignalService(endingOn: [Self.ending], on: self.bus.eventLoop)
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: self.bus), signals.configuration],
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
        )
        let ended = Journal<Int>()
        let running = Task {
            try await group.run()
            ended.add(1)
        }
        try await self.send(Self.ending) { !ended.entries.isEmpty }
        try await running.value
        let error = await #expect(throws: RoutingError.self) { try await self.bus.route("app://none") }
        #expect(error?.code == .shutDown)
    }

    @Test func `signals with handlers call them, and do not end the service group`() async throws {
        let heard = Journal<Int>()
        let signals = SignalService(
            endingOn: [Self.ending],
            on: self.bus.eventLoop,
            handling: [Self.handled: { heard.add(2) }]
        )
        try await testGracefulShutdown { trigger in
            let running = Task { try await signals.run() }
            try await self.send(Self.handled) { heard.entries.count > 2 }
            trigger.triggerGracefulShutdown()
            try await running.value
        }
        #expect(heard.entries.allSatisfy { $0 == 2 })
    }

    @Test func `an ending signal ends the service while a handler hangs`() async throws {
        let (begun, cancelled, ended) = (Journal<Int>(), Journal<Int>(), Journal<Int>())
        let signals = SignalService(
            endingOn: [Self.ending],
            on: self.bus.eventLoop,
            handling: [
                Self.handled: {
                    begun.add(1)
                    // A handler may ignore that it was cancelled.
                    try? await Task.sleep(for: .seconds(600))
                    cancelled.add(1)
                }
            ]
        )
        let running = Task {
            try await signals.run()
            ended.add(1)
        }
        try await self.send(Self.handled) { !begun.entries.isEmpty }
        // More signals wait for the handler.
        var sent = 0
        try await self.send(Self.handled) {
            sent += 1
            return sent > 20
        }
        try await self.send(Self.ending) { !ended.entries.isEmpty }
        try await running.value
        #expect(cancelled.entries == [1])
    }

    @Test func `the error of a signal's handler ends the service`() async throws {
        struct Broken: Error {}
        let signals = SignalService(
            endingOn: [],
            on: self.bus.eventLoop,
            handling: [Self.handled: { throw Broken() }]
        )
        let ended = Journal<Int>()
        let running = Task {
            defer { ended.add(1) }
            try await signals.run()
        }
        try await self.send(Self.handled) { !ended.entries.isEmpty }
        await #expect(throws: Broken.self) { try await running.value }
    }

    @Test func `a signal service for a signal that cannot be caught fails`() async throws {
        let signals = SignalService(endingOn: [Signal(number: SIGKILL)], on: self.bus.eventLoop)
        await #expect(throws: EventLoopError.self) { try await signals.run() }
    }
}
#endif
