import ArgumentParser
import Foundation
import ServiceLifecycle
import Testing
import Waybill
import WaybillCommands
import WaybillConfiguration
import WaybillEventLoop
import WaybillMetrics
import WaybillServe
import WaybillServiceLifecycle
import WaybillTesting
import WaybillTracing

#if Web
import WaybillWeb
#endif

/// A program that can print its table of routes.
struct Program: AsyncParsableCommand, RouteProviding {
    static let configuration = CommandConfiguration(
        commandName: "program",
        subcommands: [RoutesCommand<Program>.self]
    )

    static func makeBus() async throws -> MessageBus {
        let bus = MessageBus()
        try await bus.install { Plain() }
        return bus
    }
}

/// A connector that forwards all messages to another process.
struct Relay: Connector {
    let connector: RPCConnector

    func route(_ message: Message) async throws -> any Sendable { try await connector.route(message) }
}

/// The products around the bus, as the README and the articles print them.
struct ProductTests {
    @Test func `WaybillTesting records messages, replaces modules by stubs and advances a manual clock`()
        async throws
    {
        let clock = ManualClock()
        let bus = MessageBus(clock: clock)
        let recorder = MessageRecorder(on: bus)
        let users = try bus.stub("app://user/:uid", .value(User(uid: 7, name: "Lili")))
        try bus.stub("app://rates", .failure(RoutingError.refused("closed")), .value(1.08))
        let made = try bus.stub("app://made/:uid") { message in message.parameters["uid"] ?? "" }
        let slow = try bus.stub("app://archive", .never)
        let deadline = clock.now + .seconds(30)
        let caller = Task { try await bus.route("app://archive", deadline: deadline) }
        await slow.called()
        #expect(clock.pending >= 0 && clock.minimumResolution > .zero)
        await clock.advance(by: .seconds(30))
        await #expect(throws: RoutingError.self) { try await caller.value }
        let late = try await recorder.wait(for: "app://archive")
        #expect(late.error?.code == .deadlineExceeded && late.hasEnded && late.url == "app://archive")
        let user: User = try await bus.route("app://user/7?a=b", headers: ["c": "d"])
        #expect(user.uid == 7 && users.callCount == 1 && users.messages.count == 1)
        #expect(
            try await bus.route("app://made/3", as: String.self) == "3" && made.pattern == "app://made/:uid"
        )
        let record = try await recorder.wait(for: "app://user/:uid", until: .ended, count: 1)
        try await recorder.wait(for: "app://user/:uid", until: .sent)
        if case .failed(let error) = late.outcome {
            #expect(error.code == .deadlineExceeded)
        } else {
            Issue.record("the message has not failed")
        }
        if case .pending = record.outcome { Issue.record("it has ended") }
        #expect(try record.value(as: User.self) == user && record.pattern == "app://user/:uid")
        #expect(record.parameters["a"] == "b" && record.headers == ["c": "d"] && record.correlationID == nil)
        #expect(record.progress.isEmpty && record.message?.id == record.id && !record.description.isEmpty)
        if case .replied = record.outcome {} else { Issue.record("it was not replied") }
        #expect(try recorder.messages(to: "app://**").count == recorder.messages.count)
        recorder.clear()
        recorder.stop()
        #expect(recorder.messages.isEmpty)
        made.cancel()
        let sleeper = Task { try await clock.sleep(until: clock.now + .seconds(1)) }
        #expect(await clock.waitForPending())
        await clock.advance(to: clock.now + .seconds(1))
        try await sleeper.value
        let loop = clock.makeEventLoop(name: "manual")
        #expect(loop.name == "manual")
        await loop.shutDown()
    }

    @Test func `WaybillTesting's module test case reports problems and times of a module's URLs`()
        async throws
    {
        let bus = try await Program.makeBus()
        var options = ModuleTestCase.Options()
        options.repetitions = 2
        options.rounds = 1
        options.limit = .seconds(60)
        options.needsDocumentation = false
        options.mayFail = true
        options.followsNames = false
        options.configuration = nil
        options.seed = 7
        options.printsSeed = false
        let test = ModuleTestCase(
            scheme: "app",
            on: bus,
            values: ["number": "4"],
            arguments: [:],
            options: options
        )
        let report = try await test.run()
        #expect(report.problems.isEmpty && report.seed == 7 && report.scheme == "app" && report.forwarded > 0)
        let timing = try #require(report.timings.first)
        #expect(timing.count > 0 && timing.replies >= 0 && timing.median <= timing.maximum)
        #expect(!timing.route.isEmpty && !report.description.isEmpty)
        let missing = await ModuleTestCase(scheme: "none", on: bus, options: options).report()
        #expect(missing.scheme == "none" && missing.timings.isEmpty)
        options.needsDocumentation = true
        let failure = await #expect(throws: ModuleTestFailure.self) {
            try await ModuleTestCase(scheme: "app", on: bus, values: ["number": "4"], options: options).run()
        }
        let problem = try #require(failure?.report.problems.first)
        #expect(problem.route.contains("later") && problem.url.isEmpty && problem.code == nil)
        #expect(!problem.message.isEmpty && !problem.description.isEmpty)
        #expect(failure?.description.contains(problem.message) == true)
    }

    @Test func `WaybillConfiguration reads routes from files`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try "destinations:\n  \"app://d/:number\": Plain.double\n".write(
            to: file,
            atomically: true,
            encoding: .utf8
        )
        let bus = try await Program.makeBus()
        try bus.load(RouteConfiguration(contentsOf: file))
        #expect(try await bus.route("app://d/4", as: Int.self) == 8)
        #expect(RouteConfiguration.maximumFileSize > 0)
    }

    @Test func `WaybillCommands prints the routes of a program`() async throws {
        let descriptions = try await Program.makeBus().routeDescriptions
        for format in RouteListFormat.allCases {
            #expect(try RouteList(descriptions).text(as: format).contains("app://plain/double/:number"))
        }
        let formats = [RouteListFormat.table, .json, .markdown]
        #expect(formats == RouteListFormat.allCases && RouteListFormat(rawValue: "json") == .json)
        func needed(_ program: (some RouteProviding).Type) -> [any Any.Type] { program.neededServices }
        #expect(needed(Program.self).isEmpty && Program.neededServices.isEmpty)
        #expect(RoutesCommand<Program>.configuration.commandName == "routes")
        let command = try Program.parseAsRoot(["routes", "--format", "json", "--check", "app://plain/later"])
        let routes = try #require(command as? RoutesCommand<Program>)
        try routes.validate()
        try await routes.run()
    }

    @Test func `WaybillServiceLifecycle runs the bus as a service`() async throws {
        let bus = try await Program.makeBus()
        let group = ServiceGroup(
            services: [MessageBusService(bus, drainingFor: .seconds(1))],
            logger: .init(label: "consumer")
        )
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            #expect(try await bus.route("app://plain/double/4", as: Int.self) == 8)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        await #expect(throws: RoutingError.self) { try await bus.route("app://plain/double/4") }
        let other = try await Program.makeBus()
        let running = Task { try await other.run(drainingFor: .seconds(1)) }
        running.cancel()
        _ = try? await running.value
        await other.shutDown()
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await other.run()
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let alone = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await MessageBusService(other, drainingFor: .zero).run()
        }
        await #expect(throws: CancellationError.self) { try await alone.value }
    }

    @Test func `a signal service ends at graceful shutdown, and fails on a stopped loop`() async throws {
        let loop = EventLoop()
        let signals = SignalService(endingOn: [Signal(number: 14)], on: loop, handling: [.user2: {}])
        let group = ServiceGroup(
            configuration: .init(services: [signals.configuration], logger: .init(label: "consumer"))
        )
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
        await loop.shutDown()
        await #expect(throws: EventLoopError.self) { try await signals.run() }
    }

    @Test func `a call succeeds with the metrics and tracing middlewares`() async throws {
        let bus = try await Program.makeBus()
        bus.use(MetricsMiddleware(prefix: "consumer"))
        bus.use(TracingMiddleware())
        #expect(try await bus.route("app://plain/double/4", as: Int.self) == 8)
    }

    @Test func `WaybillServe connects a bus to another one by a socket`() async throws {
        let far = MessageBus()
        try far.register("far://double/:n") { message -> Int in 2 * (try message.argument("n")) }
        try far.expose("far://**", for: .calls)
        let path = NSTemporaryDirectory() + "waybill-\(UInt32.random(in: .min ... .max))"
        var configuration = RPCServer.Configuration()
        configuration.limits = RPCServer.Limits()
        configuration.limits.frameSize = 1 << 16
        configuration.limits.depth = 16
        configuration.limits.requestsInFlight = 100
        configuration.limits.subscriptions = 4
        configuration.limits.messagesPerSubscription = 16
        configuration.limits.subscriptionBytes = 1 << 20
        configuration.limits.subscriptionBytesOfAll = 1 << 24
        configuration.limits.subscriptionsOfAll = 16
        configuration.limits.messagesPerBatch = 8
        configuration.limits.batchAnswerBytes = 1 << 16
        configuration.limits.requestBytesInFlight = 1 << 20
        configuration.limits.guaranteedCalls = 4
        configuration.limits.sharedCalls = 16
        configuration.limits.waitingCallsOfAll = 100
        configuration.limits.unreadBytes = 1 << 16
        configuration.limits.unreadBytesOfAll = 1 << 22
        configuration.limits.requestBytesOfAll = 1 << 24
        configuration.limits.requestsPerSecond = 1000
        configuration.limits.connections = 8
        configuration.limits.idleTime = .seconds(60)
        configuration.limits.messageTime = .seconds(5)
        configuration.limits.stallTime = .seconds(5)
        configuration.drainLimit = .milliseconds(100)
        configuration.allowedUserIDs.insert(12)
        configuration.permissions = 0o660
        configuration.token = "let me in"
        configuration.admitsLoopbackWithoutToken = false
        configuration.logger.logLevel = .error
        let server = RPCServer(far, listening: .unix(path), configuration: configuration)
        #expect(try await server.start() == .unix(path))
        let serving = Task { try await server.run() }
        let near = MessageBus()
        var connecting = RPCConnector.Configuration()
        connecting.token = "let me in"
        connecting.pingInterval = .seconds(1)
        connecting.connectTimeout = .seconds(5)
        connecting.firstPause = .milliseconds(10)
        connecting.longestPause = .seconds(1)
        connecting.frameSize = 1 << 16
        connecting.requestSize = 1 << 16
        connecting.unsentBytes = 1 << 20
        connecting.logger.logLevel = .error
        let connector = RPCConnector(.unix(path), configuration: connecting)
        try near.connect("far", to: Relay(connector: connector))
        #expect(try await near.route("far://double/4", as: Int.self) == 8)
        let statistics = server.statistics
        #expect(statistics.answers == statistics.requests && statistics.requestsInFlight == 0)
        #expect(statistics.connections == 1 && statistics.openConnections == 1)
        #expect(statistics.refusedConnections == 0 && statistics.abandoned == 0)
        let remote: any RemoteConnector = connector
        let fingerprint = try await connector.fingerprint()
        #expect(try await remote.fingerprint() == fingerprint && fingerprint.count == 16)
        try far.expose("app://news/**", for: .subscribing)
        let news = connector.subscription(to: "app://news/:topic")
        let again = RPCSubscription("app://news/:topic", at: .unix(path), configuration: connecting)
        for subscription in [news, again] {
            let reading = Task {
                var messages = subscription.makeAsyncIterator()
                return try await messages.next()
            }
            let publishing = Task {
                while !Task.isCancelled {
                    try await far.publish("app://news/tea", parameters: ["degrees": 96])
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
            let message = try #require(try await reading.value)
            publishing.cancel()
            #expect(message.url == "app://news/tea" && message.headers.isEmpty && !message.isAfterGap)
            #expect(try message.parameter("degrees", as: Int.self) == 96)
            #expect(try message.payload(as: Int.self) == nil)
        }
        server.beginGracefulShutdown()
        try await serving.value
    }

    #if Web
    @Test func `a gateway connector fails with unreachable where no server listens`() async throws {
        let bus = MessageBus()
        try bus.connect("near", to: GatewayConnector("http://127.0.0.1:1/bus"))
        try bus.connect("far", to: GatewayConnector("http://127.0.0.1:1/bus", token: "let me in"))
        for url in ["near://double/4", "far://double/4"] {
            let error = await #expect(throws: RoutingError.self) { try await bus.route(url, as: Int.self) }
            #expect(error?.code == .unreachable)
        }
        await bus.shutDown()
    }

    /// Answers every request of HTTP with two events and the end of the stream.
    private func serveEvents(_ listener: StreamListener) async throws {
        let event = #"{"url":"app://news/tea","parameters":{"degrees":96},"payload":"hot"}"#
        let events = [1, 2].map { "id: \($0)\nevent: message\ndata: \(event)\n\n" }.joined()
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        try await listener.serve { connection in
            _ = try await connection.read()
            try await connection.write(Array((head + events).utf8))
            try await connection.finishWriting()
        }
    }

    @Test func `a gateway connector subscribes, and reports the fingerprint of the server`() async throws {
        let loop = EventLoop(name: "events")
        let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: loop)
        let serving = Task { try await self.serveEvents(listener) }
        guard case .tcp(let host, let port) = listener.address else {
            Issue.record("the listener has no port")
            return
        }
        let connector = GatewayConnector("http://\(host):\(port)/bus")
        // The response is not JSON, so it does not contain a fingerprint.
        #expect(try await connector.fingerprint().isEmpty)
        let subscription: GatewaySubscription = connector.subscription(to: "app://news/:topic")
        var messages = subscription.makeAsyncIterator()
        let message = try #require(try await messages.next())
        #expect(message.url == "app://news/tea" && message.headers.isEmpty && !message.isAfterGap)
        #expect(try message.parameter("degrees", as: Int.self) == 96)
        #expect(try message.payload(as: String.self) == "hot")
        listener.close()
        try await serving.value
        await loop.shutDown()
    }

    @Test func `a web connector fails with unreachable where no server listens`() async throws {
        var configuration = WebConnector.Configuration()
        configuration.bodyLimit = 1 << 10
        configuration.timeout = .seconds(60)
        let bus = MessageBus()
        try bus.connect("http", to: WebConnector(configuration: configuration))
        // Nothing listens at the first port.
        do {
            let response: WebResponse = try await bus.route("http://127.0.0.1:1/")
            Issue.record("\(response)")
        } catch {
            #expect(error.code == .unreachable, "\(error)")
        }
        let headers = WebHeaders([.init(name: "A", value: "b"), .init(name: "a", value: "c")])
        #expect(headers["a"] == "b" && headers.all("A") == ["b", "c"] && headers.fields.count == 2)
        let response = WebResponse(status: 200, headers: headers, body: Array("hi".utf8))
        #expect(response.isSuccess && response.text == "hi" && response.status == 200)
    }
    #endif
}
