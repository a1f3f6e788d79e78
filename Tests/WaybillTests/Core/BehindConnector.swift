import Foundation
import Logging
import Testing
import Waybill
import WaybillEventLoop
import WaybillServe
import WaybillTestSupport

/// A bus with the modules of a test, and the bus that calls them: the same one, or another whose scheme is
/// connected to the first.
struct CalledModules: Sendable {
    /// Where modules are registered.
    let bus: MessageBus
    /// Where a test calls them.
    let caller: MessageBus

    /// Whether there is a connector between them.
    var isConnected: Bool { self.bus !== self.caller }

    /// The buses of the test that is running.
    static func underTest() -> CalledModules {
        if let connected = BehindConnector.buses { return connected }
        let bus = MessageBus.onHost()
        return CalledModules(bus: bus, caller: bus)
    }
}

/// Runs each test of a suite twice: with one bus, and with the modules behind a connector.
///
/// Outside of a suite that has this, ``CalledModules/underTest()`` is one bus.
struct BehindConnector: SuiteTrait, TestTrait, TestScoping {
    /// The schemes that are served.
    private static let schemes = ["app", "other"]

    @TaskLocal fileprivate static var buses: CalledModules?

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await function()
        // A second time, and not once more for each host.
        guard LoopHost.current == .ownThread, !test.traits.contains(where: { $0 is InProcessOnly }) else {
            return
        }
        let note = IssueHandlingTrait.compactMapIssues { issue in
            var issue = issue
            issue.comments.insert("The modules are behind a connector.", at: 0)
            return issue
        }
        try await note.provideScope(for: test, testCase: testCase) {
            try await Self.connected { buses in
                try await Self.$buses.withValue(buses) { try await function() }
            }
        }
    }

    /// Runs code with two buses, of which the first is served at a Unix socket.
    private static func connected(_ body: (CalledModules) async throws -> Void) async throws {
        let path = "/tmp/waybill-\(UInt32.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (modules, caller) = (MessageBus.onHost(), MessageBus.onHost())
        var serving = RPCServer.Configuration()
        serving.logger = .silent
        serving.limits.requestsInFlight = 10_000
        let server = RPCServer(modules, listening: .unix(path), configuration: serving)
        var connecting = RPCConnector.Configuration()
        connecting.logger = .silent
        let connector = RPCConnector(try await server.start(), configuration: connecting)
        for scheme in Self.schemes {
            try modules.expose("\(scheme)://**", for: .all)
            try caller.connect(scheme, to: connector)
        }
        let running = Task { try await server.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body(CalledModules(bus: modules, caller: caller))) } catch {
            result = .failure(error)
        }
        running.cancel()
        try await running.value
        try result.get()
    }
}

/// Keeps a test from being run with its modules behind a connector.
struct InProcessOnly: TestTrait {
    /// What differs there.
    let reason: String
}

extension Trait where Self == BehindConnector {
    /// Runs each test a second time with the modules behind a connector.
    static var alsoBehindConnector: Self { Self() }
}

extension Trait where Self == InProcessOnly {
    /// The test is of what holds within a process.
    static func inProcessOnly(_ reason: String) -> Self { Self(reason: reason) }
}

extension Logger {
    fileprivate static let silent = Logger(label: "waybill.tests") { _ in SwiftLogNoOpLogHandler() }
}
