import CMallocCount
import CMeasure
import Subjects
import Waybill
import WaybillConsole
import WaybillDurable
import WaybillEventLoop
import WaybillRouting
import WaybillServe

#if Cluster
import WaybillNATS
#endif
#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

// Performs one operation N times and nothing else, for programs that count instructions and allocations. Run
// it for N and for 2N. The difference is the cost of N operations. The program prints the counts of the
// linked malloc.
//
// The main thread is synchronous and runs the loop itself, because valgrind cannot follow an asynchronous
// main.

/// A configuration with endless time slices and without the watchdog.
///
/// Polls and warnings depend on the clock, and under valgrind nearly every route would cause some.
let endless = EventLoop.Configuration(timeSlice: .seconds(3600), watchdogThreshold: .seconds(3600))

/// Work that can be repeated on the main thread.
typealias Workload = (_ count: Int) throws -> Void

func runOnCallingThread(
    _ body: (EventLoop) throws -> @Sendable (_ count: Int) async throws -> Void
) throws -> Workload {
    let loop = EventLoop.onCallingThread(configuration: endless)
    let work = try body(loop)
    return { count in
        Task.detached {
            do { try await work(count) } catch { fatalError("\(error)") }
            loop.beginShutDown()
        }
        loop.run()
    }
}

/// A caller and a module on the main thread's loop.
func onOneLoop(
    _ work: @escaping @Sendable (_ office: Office, _ count: Int) async throws -> UInt64
) throws -> Workload {
    try runOnCallingThread { loop in
        let office = try Office(on: loop)
        return { count in _ = try await work(office, count) }
    }
}

/// A caller and a module on the main thread's loop, on which a server listens as well.
func onServedLoop() throws -> Workload {
    try runOnCallingThread { loop in
        let office = try Office(on: loop)
        try office.bus.expose("app://user/**")
        let path = "/tmp/waybill-workload-\(getpid())"
        let server = RPCServer(office.bus, listening: .unix(path))
        return { count in
            try await server.start()
            let serving = Task { try await server.run() }
            _ = try await office.caller.route(Office.detail, on: office.bus, count)
            server.beginGracefulShutdown()
            try await serving.value
        }
    }
}

/// A caller and a module on the main thread's loop, with a console whose page is not open.
func withConsole() throws -> Workload {
    try runOnCallingThread { loop in
        let office = try Office(on: loop)
        let console = WaybillConsole(office.bus)
        return { count in
            _ = try await office.caller.route(Office.detail, on: office.bus, count)
            withExtendedLifetime(console) {}
        }
    }
}

/// A caller and a module on the main thread's loop, on a bus to which a durable store is attached.
func withStore() throws -> Workload {
    try runOnCallingThread { loop in
        let office = try Office(on: loop)
        let path = "/tmp/waybill-workload-\(getpid()).db"
        return { count in
            let store = try await DurableStore(path)
            try await office.bus.attach(store)
            _ = try await office.caller.route(Office.detail, on: office.bus, count)
            await store.close()
            for suffix in ["", "-wal", "-lock"] { unlink(path + suffix) }
        }
    }
}

#if Cluster
/// A caller and a module on the main thread's loop, on a bus that is a node of a cluster.
func onNode() throws -> Workload {
    try runOnCallingThread { loop in
        let office = try Office(on: loop)
        let folder = "/tmp/waybill-workload-\(getpid())"
        unsafe mkdir(folder, 0o700)
        guard let found = unsafe measure_nats_start(folder) else { fatalError("there is no nats-server") }
        // Only this code and the code below that ends the server use it.
        nonisolated(unsafe) let server = unsafe found
        let url = unsafe String(cString: measure_nats_url(server))
        // The heartbeats of a node are not counted as part of a message.
        var configuration = ClusterNode.Configuration()
        configuration.heartbeatInterval = .seconds(60)
        let node = office.bus.join(
            NATSTransport(servers: [url], realm: "workload"),
            configuration: configuration
        )
        try office.bus.share("app://user/**")
        return { count in
            try await node.start()
            let joined = Task { try await node.run() }
            _ = try await office.caller.route(Office.detail, on: office.bus, count)
            node.beginGracefulShutdown()
            try await joined.value
            unsafe measure_nats_stop(server)
        }
    }
}
#endif

/// A module on the main thread's loop, and a client in C that calls it over a Unix socket.
func overSocket() throws -> Workload {
    try runOnCallingThread { loop in
        let office = try Office(on: loop)
        try office.bus.expose("app://user/**")
        let path = "/tmp/waybill-workload-\(getpid())"
        var configuration = RPCServer.Configuration()
        configuration.limits.requestsPerSecond = 100_000_000
        let server = RPCServer(office.bus, listening: .unix(path), configuration: configuration)
        return { count in
            try await server.start()
            let serving = Task { try await server.run() }
            try LineClient(at: path).calls(count)
            server.beginGracefulShutdown()
            try await serving.value
        }
    }
}

/// A bus on the main thread's loop behind Hummingbird, and a client in C that requests a target.
func overHTTP(_ target: String) throws -> Workload {
    try runOnCallingThread { loop in
        let path = "/tmp/waybill-workload-\(getpid())"
        let server = try WebOffice(on: loop, at: path)
        return { count in
            _ = try await server.calls(target, count, inFlight: 8)
            unsafe unlink(path)
        }
    }
}

/// A caller and a module on the main thread's loop, which is the second loop of their bus.
func onSecondLoop(middlewares: Int = 0) throws -> Workload {
    try runOnCallingThread { loop in
        let office = try Office(on: loop, first: EventLoop(name: "first", configuration: endless))
        office.bus.passOn(times: middlewares)
        return { count in _ = try await office.caller.route(Office.detail, on: office.bus, count) }
    }
}

/// A caller on the main thread's loop, and a module on another thread's.
///
/// Both loops park, so that no thread executes instructions while it waits.
func betweenTwoLoops(_ work: @escaping @Sendable (Office, Int) async throws -> Void) throws -> Workload {
    try runOnCallingThread { loop in
        let office = try Office(on: loop, module: EventLoop(name: "module", configuration: endless))
        return { try await work(office, $0) }
    }
}

/// Calls of several concurrent callers to a module on another loop.
func onTwoLoops(callers: Int, to urls: UserURLs = Office.detail) throws -> Workload {
    try betweenTwoLoops { office, count in
        let (caller, bus) = (office.caller, office.bus)
        _ = try await caller.inFlight(callers, count) { try await caller.route(urls, on: bus, $0) }
    }
}

func send() throws -> Workload {
    try runOnCallingThread { loop in
        let sender = try Sender(on: loop)
        return { count in _ = try await sender.sendOnLoop(count) }
    }
}

func match() throws -> Workload {
    var table = RouteTable<Int>()
    try table.insert("app://user/:one/:two/:three/:four/:five/:six/:seven/:eight", 1)
    let urls = ["app://user/a/b/c/d/e/f/g/h?page=2"]
    return { count in try table.match(urls, times: count) }
}

/// Returns URLs of all GitHub routes, one after the other.
func matchGitHub() throws -> Workload {
    var table = RouteTable<Int>()
    for pattern in GitHubRoutes.patterns { try table.insert(pattern, 1) }
    return { count in try table.match(GitHubRoutes.urls, times: count) }
}

var workloads: [String: () throws -> Workload] = [
    "same-loop": { try onOneLoop { try await $0.caller.route(Office.detail, on: $0.bus, $1) } },
    "same-loop-served": { try onServedLoop() },
    "same-loop-console": { try withConsole() },
    "same-loop-store": { try withStore() },
    "same-loop-closure": { try onOneLoop { try await $0.caller.route(Office.closure, on: $0.bus, $1) } },
    "with-deadline": { try onOneLoop { try await $0.caller.routeInTime(Office.detail, on: $0.bus, $1) } },
    "same-loop-async": { try onOneLoop { try await $0.caller.route(Office.ready, on: $0.bus, $1) } },
    "same-loop-async-on": { try onOneLoop { try await $0.caller.route(Office.readyOn, on: $0.bus, $1) } },
    "task-immediate": { try onOneLoop { await $0.module.answerInTasks($1) } },
    "service-call": { try onOneLoop { try await $0.caller.call(try $0.service, $1) } },
    "typed-url": { try onOneLoop { try await $0.caller.routeTypedURLs(on: $0.bus, $1) } },
    "second-loop": { try onSecondLoop() },
    "serve-call": { try overSocket() },
    "http-call": { try overHTTP(WebOffice.gateway) },
    "http-route": { try overHTTP(WebOffice.routed) },
    "http-plain": { try overHTTP(WebOffice.plain) },
    "middleware-second-loop": { try onSecondLoop(middlewares: 2) },
    "middleware": {
        try onOneLoop { office, count in
            office.bus.passOn(times: 2)
            return try await office.caller.route(Office.detail, on: office.bus, count)
        }
    },
    "hop": { try onTwoLoops(callers: 1) },
    "hop-64": { try onTwoLoops(callers: 64) },
    "hop-64-async": { try onTwoLoops(callers: 64, to: Office.suspending) },
    "actor-call-64": {
        try betweenTwoLoops { office, count in
            _ = try await office.caller.inFlight(64, count) { await office.caller.call(office.module, $0) }
        }
    },
    "send": send,
    "match": match,
    "match-github": matchGitHub,
]

#if Cluster
workloads["same-loop-joined"] = { try onNode() }
#endif

let arguments = CommandLine.arguments
guard arguments.count == 3, let makeWorkload = workloads[arguments[1]], let count = Int(arguments[2]) else {
    fatalError("usage: Workload NAME COUNT, where NAME is one of \(workloads.keys.sorted())")
}
let work = try makeWorkload()
try work(count)
print(malloc_count())
