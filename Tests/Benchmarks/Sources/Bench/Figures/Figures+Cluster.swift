#if Cluster
import CMeasure
import Foundation
import Logging
import Measure
import Subjects
import Synchronization
import Waybill
import WaybillEventLoop
import WaybillNATS

extension Figures {
    /// Two nodes of a cluster, and two connections of libnats in C, by the same nats-server.
    static func cluster() throws -> [Figure] {
        // Without a server neither side can run.
        guard let server = try NATSPeer() else { return [] }
        let nodes = TwoNodes(at: server.url)
        return [
            Figure(
                "nats.request",
                must: .ratio(1.5),
                goal: .ratio(1.1),
                subject: Subject("a route to another node") { try await nodes.route($0) },
                peer: Subject("a request with libnats in C") { try await server.requests($0) }
            ),
            Figure(
                "nats.request-64",
                must: .ratio(1.5),
                goal: .ratio(1),
                subject: Subject("64 routes at a time") { try await nodes.route($0, inFlight: 64) },
                peer: Subject("64 requests at a time with libnats in C") {
                    try await server.requests($0, inFlight: 64)
                }
            ),
            Figure(
                "nats.publish",
                must: .ratio(1 / 0.6),
                goal: .ratio(1 / 0.9),
                subject: Subject("a kilobyte to a subscriber of another node", iterations: 20_000) {
                    try await nodes.publish($0)
                },
                peer: Subject("the same with libnats in C", iterations: 20_000) {
                    try await server.publish($0)
                }
            ),
            Figure(
                "nats.no-route",
                must: .ratio(2),
                subject: Subject("a route that no node has") { try await nodes.routeToNothing($0) },
                peer: Subject("a request with libnats in C") { try await server.requests($0) }
            ),
            Figure("nats.many-nodes", unit: .milliseconds, must: .value(2000), rounds: 5) {
                Double(try await ManyNodes(50, routes: 200, at: server.url).learn()) / 1_000_000
            },
        ]
    }
}

/// A nats-server that is called through libnats.
@safe
private final class NATSPeer: Sendable {
    // Only one figure at a time uses the server, which is freed with this object.
    private nonisolated(unsafe) let server: OpaquePointer
    private let folder: TemporaryFolder

    /// Starts a server.
    ///
    /// Returns nil if nats-server or libnats is missing.
    init?() throws {
        self.folder = try TemporaryFolder()
        let path = self.folder.path("nats")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        // The C function copies the path.
        guard let server = unsafe measure_nats_start(path) else { return nil }
        unsafe self.server = server
    }

    deinit { unsafe measure_nats_stop(self.server) }

    /// The address of the server.
    var url: String { unsafe String(cString: measure_nats_url(self.server)) }

    @concurrent
    func requests(_ count: Int) async throws -> UInt64 {
        try Self.checked(unsafe measure_nats_requests(self.server, UInt64(count)))
    }

    @concurrent
    func requests(_ count: Int, inFlight limit: Int) async throws -> UInt64 {
        try Self.checked(unsafe measure_nats_requests_in_flight(self.server, UInt64(count), UInt64(limit)))
    }

    @concurrent
    func publish(_ count: Int) async throws -> UInt64 {
        try Self.checked(unsafe measure_nats_publish(self.server, UInt64(count)))
    }

    private static func checked(_ time: UInt64) throws -> UInt64 {
        if time == 0 { throw ConnectionFailure() }
        return time
    }
}

/// Two nodes on separate loops: one sends messages, the other answers and counts them.
private actor TwoNodes {
    private let server: String
    private var joined: (near: MessageBus, caller: Caller, taken: Taken)?
    /// Keeps the bus of the node that answers.
    private var far: MessageBus?

    init(at server: String) { self.server = server }

    private var nodes: (near: MessageBus, caller: Caller, taken: Taken) {
        get async throws {
            if let joined = self.joined { return joined }
            let (near, far) = (MessageBus(eventLoop: .quiet("near")), MessageBus(eventLoop: .quiet("far")))
            let taken = Taken()
            try far.register("app://user/detail") { message -> Int in try message.parameters.require("uid") }
            try far.subscribe("app://news/**") { _ in taken.add() }
            try far.share("app://user/**")
            try far.share("app://news/**", for: .publishing)
            try near.share("app://nothing/**")
            for bus in [far, near] {
                var configuration = ClusterNode.Configuration()
                configuration.logger.logLevel = .critical
                let node = bus.join(
                    NATSTransport(servers: [self.server], realm: "bench"),
                    configuration: configuration
                )
                try await node.start()
                Task.detached { try await node.run() }
            }
            let joined = (near, Caller(eventLoop: near.eventLoop), taken)
            // Wait until the nodes know each other.
            while !near.canRoute("app://user/detail?uid=1") { try await Task.sleep(for: .milliseconds(5)) }
            self.joined = joined
            self.far = far
            return joined
        }
    }

    func route(_ count: Int) async throws -> UInt64 {
        let (near, caller, _) = try await self.nodes
        return try await caller.route(Office.detail, on: near, count)
    }

    func route(_ count: Int, inFlight limit: Int) async throws -> UInt64 {
        let (near, caller, _) = try await self.nodes
        return try await caller.inFlight(limit, count) {
            try await caller.route(Office.detail, on: near, $0)
        }
    }

    func publish(_ count: Int) async throws -> UInt64 {
        let (near, caller, taken) = try await self.nodes
        let text = String(repeating: "x", count: 900)
        let (before, start) = (taken.count, MonotonicTime.now)
        try await caller.run {
            for number in 0..<count {
                try await near.publish("app://news/today", parameters: ["text": text])
                // The number of messages that wait for the server is limited, so the publisher pauses before
                // it is exceeded.
                if number % 4096 == 4095 { try await taken.wait(for: before + number - 4095) }
            }
        }
        try await taken.wait(for: before + count)
        return MonotonicTime.now - start
    }

    func routeToNothing(_ count: Int) async throws -> UInt64 {
        let (near, caller, _) = try await self.nodes
        return try await caller.run {
            let start = MonotonicTime.now
            for _ in 0..<count {
                do throws(RoutingError) {
                    let _: Int = try await near.route("app://user/unknown")
                    throw RoutingError.refused("a route that no node has was answered")
                } catch {
                    guard error.code == .noRoute else { throw error }
                }
            }
            return MonotonicTime.now - start
        }
    }
}

/// Nodes with different routes that join at the same time.
private struct ManyNodes {
    private let buses: [MessageBus]
    private let nodes: [ClusterNode]
    private let lastRoutes: [String]

    init(_ count: Int, routes: Int, at server: String) throws {
        self.lastRoutes = (0..<count).map { "app://n\($0)/r\(routes - 1)/1" }
        self.buses = try (0..<count).map { number in
            let bus = MessageBus(eventLoop: .quiet("node"))
            try bus.share("app://n\(number)/**")
            for route in 0..<routes { try bus.register("app://n\(number)/r\(route)/:id") { _ in number } }
            return bus
        }
        self.nodes = self.buses.map { bus in
            var configuration = ClusterNode.Configuration()
            configuration.logger.logLevel = .critical
            return bus.join(NATSTransport(servers: [server], realm: "many"), configuration: configuration)
        }
    }

    /// Makes all nodes join, and leave again.
    ///
    /// - Returns: The time until each node knew the routes of all others, in nanoseconds.
    func learn() async throws -> UInt64 {
        let start = MonotonicTime.now
        let runs = self.nodes.map { node in
            Task {
                try await node.start()
                try await node.run()
            }
        }
        var missing = self.buses
        while true {
            missing.removeAll { bus in self.lastRoutes.allSatisfy { bus.canRoute($0) } }
            if missing.isEmpty { break }
            if MonotonicTime.now - start > 60_000_000_000 { throw ConnectionFailure() }
            try await Task.sleep(for: .milliseconds(5))
        }
        let time = MonotonicTime.now - start
        for node in self.nodes { node.beginGracefulShutdown() }
        for run in runs { try await run.value }
        for bus in self.buses { await bus.shutDown() }
        return time
    }
}

/// The number of publications that have arrived.
private final class Taken: Sendable {
    private let value = Atomic<Int>(0)

    var count: Int { self.value.load(ordering: .relaxed) }

    func add() { self.value.add(1, ordering: .relaxed) }

    /// Waits until a number of messages have arrived.
    ///
    /// A lost message is an error.
    func wait(for count: Int) async throws {
        let start = MonotonicTime.now
        while self.count < count {
            if MonotonicTime.now - start > 10_000_000_000 { throw ConnectionFailure() }
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
#endif
