internal import Logging
internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct WatchdogTests {
    /// Records log entries.
    private final class Log: Sendable {
        let entries = Locked<[Logger.Metadata]>([])

        var names: [String] { self.entries.withLock { $0.compactMap { $0["event-loop"]?.description } } }
    }

    private struct Handler: LogHandler {
        let log: Log
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            self.log.entries.withLock { $0.append(event.metadata ?? [:]) }
        }
    }

    private func loop(_ name: String, threshold: Duration?, _ log: Log) -> EventLoop {
        let logger = Logger(label: "test") { _ in Handler(log: log) }
        return EventLoop(name: name, configuration: .init(watchdogThreshold: threshold, logger: logger))
    }

    private func hold(_ loop: EventLoop, for duration: Duration) async {
        await loop.run {
            let end = ContinuousClock.now + duration
            while ContinuousClock.now < end {}
        }
    }

    @Test
    func `the watchdog logs a job that holds the loop, with the loop's name`() async {
        let log = Log()
        let loop = self.loop("stuck", threshold: .milliseconds(20), log)
        await loop.run {
            let end = ContinuousClock.now + .seconds(10)
            while log.names.isEmpty, ContinuousClock.now < end {}
        }
        #expect(log.names == ["stuck"])
        #expect(log.entries.withLock { $0.first?["held-ms"] != nil })
    }

    @Test
    func `a loop with a long threshold does not delay the warnings of another loop`() async throws {
        let log = Log()
        // The loops of other tests use another watchdog.
        let watchdog = Watchdog()
        let patient = self.loop("patient", threshold: nil, log)
        let loop = self.loop("stuck", threshold: nil, log)
        watchdog.add(patient.core, threshold: .seconds(3600))
        // The thread of the watchdog sleeps for the first time.
        try await Task.sleep(for: .milliseconds(20))
        watchdog.add(loop.core, threshold: .milliseconds(20))
        await loop.run {
            let end = ContinuousClock.now + .seconds(10)
            while log.names.isEmpty, ContinuousClock.now < end {}
        }
        #expect(log.names == ["stuck"])
        watchdog.remove(patient.core)
        watchdog.remove(loop.core)
    }

    @Test
    func `the watchdog logs neither many short jobs nor sleep`() async throws {
        let log = Log()
        let threshold = Scale.whileQuick
        let loop = self.loop("busy", threshold: threshold, log)
        let end = ContinuousClock.now + threshold * 5 / 4
        while ContinuousClock.now < end { await self.hold(loop, for: .milliseconds(1)) }
        try await Task.sleep(for: threshold * 5 / 4)
        #expect(log.names.isEmpty)
    }

    @Test
    func `a loop without a threshold is not watched`() async {
        let log = Log()
        let loop = self.loop("free", threshold: nil, log)
        await self.hold(loop, for: .milliseconds(150))
        #expect(log.names.isEmpty)
    }
}
