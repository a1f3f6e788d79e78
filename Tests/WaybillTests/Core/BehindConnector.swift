import Foundation
import Logging
import Testing
import Waybill
import WaybillEventLoop
import WaybillNATSTestSupport
import WaybillServe
import WaybillTestSupport

/// A bus with the modules of a test, and the bus that calls them.
///
/// The calling bus is the same bus, another bus whose scheme is connected to the first, or the bus of another
/// node of a cluster.
struct CalledModules: Sendable {
    /// The connection between the two buses.
    enum Place: Sendable {
        case process
        case connector
        case cluster
    }

    /// The bus on which modules are registered.
    let bus: MessageBus
    let place: Place
    private let callingBus: MessageBus
    private let settle: @Sendable () -> Void

    /// Creates a pair.
    ///
    /// - Parameters:
    ///   - bus: The bus with the modules.
    ///   - caller: The bus of the test.
    ///   - place: The connection between them.
    ///   - settle: Waits until the caller's side knows the registrations.
    init(
        bus: MessageBus,
        caller: MessageBus,
        place: Place,
        settle: @escaping @Sendable () -> Void = {}
    ) {
        self.bus = bus
        self.callingBus = caller
        self.place = place
        self.settle = settle
    }

    /// The bus on which a test calls the modules.
    ///
    /// The calling bus knows all registrations that were made before.
    var caller: MessageBus {
        self.settle()
        return self.callingBus
    }

    /// Whether the modules are on another bus.
    var isConnected: Bool { self.place != .process }

    /// The buses of the running test.
    static func underTest() -> CalledModules {
        if let elsewhere = BehindConnector.buses { return elsewhere }
        let bus = MessageBus.onHost()
        return CalledModules(bus: bus, caller: bus, place: .process)
    }
}

/// Runs each test of a suite several times: with one bus, with the modules behind a connector and, on
/// request, on another node of a cluster.
///
/// Outside of a suite with this trait, ``CalledModules/underTest()`` is one bus.
struct BehindConnector: SuiteTrait, TestTrait, TestScoping {
    /// The schemes that are served.
    private static let schemes = ["app", "other"]

    @TaskLocal fileprivate static var buses: CalledModules?

    /// Whether the tests also run with a cluster.
    var includesCluster = false

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await function()
        // The further runs take place once, and not once more for each kind of host.
        guard LoopHost.current == .ownThread, !test.traits.contains(where: { $0 is InProcessOnly }) else {
            return
        }
        try await Self.noting("The modules are behind a connector.", test, testCase) {
            try await Self.connected { buses in
                try await Self.$buses.withValue(buses) { try await function() }
            }
        }
        // Sanitizers already run the cluster's own tests, and are slow.
        guard self.includesCluster, !Scale.isSanitized,
            !test.traits.contains(where: { $0 is ExceptInCluster })
        else { return }
        for kind in TestCluster.Kind.allCases {
            try await Self.noting("The modules are on another node (\(kind)).", test, testCase) {
                try await InCluster.run(kind) { buses in
                    try await Self.$buses.withValue(buses) { try await function() }
                }
            }
        }
    }

    /// Runs code, and adds the place of the modules to its issues.
    private static func noting(
        _ place: String,
        _ test: Test,
        _ testCase: Test.Case?,
        _ body: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let note = IssueHandlingTrait.compactMapIssues { issue in
            var issue = issue
            issue.comments.insert("\(place)", at: 0)
            return issue
        }
        try await note.provideScope(for: test, testCase: testCase, performing: body)
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
        do {
            result = .success(try await body(CalledModules(bus: modules, caller: caller, place: .connector)))
        } catch {
            result = .failure(error)
        }
        running.cancel()
        try await running.value
        try result.get()
    }
}

/// Excludes a test from the runs with the modules behind a connector.
struct InProcessOnly: TestTrait {
    /// The difference when the modules are on another node.
    let reason: String
}

/// Excludes a test from the runs with the modules on another node of a cluster.
struct ExceptInCluster: TestTrait {
    /// The difference when the modules are in another process.
    let reason: String
}

extension Trait where Self == ExceptInCluster {
    /// Skips a test of behaviour that differs on another node.
    static func exceptInCluster(_ reason: String) -> Self { Self(reason: reason) }
}

extension Trait where Self == BehindConnector {
    /// Runs each test a second time with the modules behind a connector.
    static var alsoBehindConnector: Self { Self() }

    /// Runs each test further times, with the modules behind a connector and on another node of a cluster.
    static var alsoElsewhere: Self { Self(includesCluster: true) }
}

extension Trait where Self == InProcessOnly {
    /// Runs a test of behaviour within a process only.
    static func inProcessOnly(_ reason: String) -> Self { Self(reason: reason) }
}

extension Logger {
    fileprivate static let silent = Logger(label: "waybill.tests") { _ in SwiftLogNoOpLogHandler() }
}
