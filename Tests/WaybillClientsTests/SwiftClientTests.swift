#if HTTP && Macros && Web
import Foundation
import Testing
import Waybill
import WaybillClients
import WaybillDocuments
import WaybillEventLoop
import WaybillJSON
import WaybillServe
import WaybillTestSupport
import WaybillWeb

/// The generated client in Swift against a server: values, progress, errors and cancellation.
@Suite(.timeLimit(.minutes(5)))
struct SwiftClientTests {
    enum Transport: CaseIterable {
        case unix, tcp, http
    }

    /// The number of random values for each transport.
    private static let count =
        ProcessInfo.processInfo.environment["WAYBILL_SOAK"] == "1" ? 10_000 : Scale.of(200)

    /// Runs a closure with a client of the server of the tests.
    private func withClient(
        over transport: Transport,
        _ body: (ProbeClient, ProbeServer) async throws -> Void
    ) async throws {
        try await ProbeServer.run { server in
            switch transport {
            case .unix:
                try await server.withSocket { address in
                    try await self.run(RPCConnector(address, configuration: .probe), server, body)
                }
            case .tcp:
                try await server.withSocket(at: .tcp("127.0.0.1", port: 0)) { address in
                    try await self.run(RPCConnector(address, configuration: .probe), server, body)
                }
            case .http:
                try await server.withGateway { port in
                    let connector = GatewayConnector("http://127.0.0.1:\(port)/bus", token: ProbeServer.token)
                    try await self.run(connector, server, body)
                }
            }
        }
    }

    private func run(
        _ connector: some Connector,
        _ server: ProbeServer,
        _ body: (ProbeClient, ProbeServer) async throws -> Void
    ) async throws {
        let client = try ProbeClient(connector, on: MessageBus(configuration: .quiet))
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await body(client, server))
        } catch {
            outcome = .failure(error)
        }
        await client.bus.shutDown()
        try outcome.get()
    }

    @Test(arguments: Transport.allCases)
    func `a Swift client passes values unchanged over each transport`(transport: Transport) async throws {
        try await self.withClient(over: transport) { client, server in
            var generator = SeededGenerator(seed: 13)
            var sent: [Everything] = []
            for _ in 0..<Self.count {
                let value = Everything.random(using: &generator)
                let text = try JSONText(encoding: value)
                let typed = try #require(try text.decoded(as: ProbeClient.Everything.self))
                let returned = try await client.probe.echo(value: typed)
                try #require(returned == typed)
                sent.append(value)
            }
            #expect(server.received.entries == sent)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a Swift client has parameters, progress, errors, deadlines and cancellation`(
        transport: Transport
    ) async throws {
        try await self.withClient(over: transport) { client, server in
            let probe = client.probe
            #expect(try await client.isCurrent() == true)
            #expect(try await probe.place(text: "a/b c", number: -7) == "a/b c -7 left []")
            let place = try await probe.place(text: "é", number: 1, side: .right, sizes: [0.5])
            #expect(place == "é 1 right [0.5]")
            let date = Date(timeIntervalSince1970: 1_795_250_200.125)
            let (uuid, digits) = (UUID(), "12345678901234567890.125")
            let captured = try await probe.captured(
                data: Data([0, 255, 254, 7]),
                date: date,
                uuid: uuid,
                decimal: try #require(Decimal(string: digits))
            )
            #expect(captured == "[0, 255, 254, 7] \(date.timeIntervalSince1970) \(uuid) \(digits)")
            #expect(try await probe.trace(options: .init(headers: ["traceparent": "00-a"])) == "00-a")
            _ = try await probe.place(text: "r", number: 2, options: .init(returnURL: "app://probe/keep"))
            #expect(await eventually { server.notes.entries.contains("kept r 2 left []") })

            let isAnswered = transport != .http
            var seen: [Int] = []
            let sum = try await probe.steps(count: 3, isAnswered: isAnswered) { (step: Int) in
                seen.append(step)
                return step * 10
            }
            #expect(seen == [1, 2, 3] && sum == (isAnswered ? 60 : 0))

            // A `GatewayConnector` reads each progress reply, even if its caller does not listen.
            #expect(try await probe.count(end: 3) == (isAnswered ? 0 : 3))
            var numbers: [Int] = []
            #expect(try await probe.count(end: 3) { numbers.append($0) } == 3)
            #expect(numbers == [1, 2, 3])
            try await self.bargain(with: probe, isAnswered: isAnswered)

            let failed = await #expect(throws: RoutingError.self) { try await probe.fail(id: 9) }
            #expect(failed?.declared(as: OrderError.self) == .unknown(id: 9))
            let late = await #expect(throws: RoutingError.self) {
                try await probe.wait(options: .init(timeout: .milliseconds(200)))
            }
            #expect(late?.code == .deadlineExceeded)
            let begun = server.notes.entries.count { $0 == "waits" }
            let task = Task { try await probe.wait() }
            #expect(await eventually { server.notes.entries.count { $0 == "waits" } == begun + 1 })
            task.cancel()
            await #expect(throws: (any Error).self) { try await task.value }
            #expect(await eventually { server.notes.entries.count { $0 == "cancelled" } == begun + 1 })
        }
    }

    @Test(arguments: Transport.allCases)
    func `a Swift client sends no empty segment, and over HTTP no segment of dots`(
        transport: Transport
    ) async throws {
        try await self.withClient(over: transport) { client, _ in
            let path = try await client.probe.files(path: "a/b c/é")
            #expect(path == "a/b c/é")
            #expect(try await client.probe.twice(id: "7") == "7")
            #expect(try await client.probe.wild(any: "a", any2: "b") == "a")
            for path in ["", "/a", "a//b", "a/"] {
                let error = await #expect(throws: RoutingError.self) {
                    try await client.probe.files(path: path)
                }
                #expect(error?.code == .invalidParameter, "\(path): \(error as Any)")
            }
            let error = await #expect(throws: RoutingError.self) {
                try await client.probe.place(text: "", number: 1)
            }
            #expect(error?.code == .invalidParameter)
            #expect(throws: RoutingError.self) { try client.app.messages(text: "") }
            for path in [".", "a/..", "../a"] {
                // Proxies would remove these segments, and a bus exposes no URL that has one.
                let error = await #expect(throws: RoutingError.self) {
                    try await client.probe.files(path: path)
                }
                #expect(error?.code == (transport == .http ? .invalidURL : .noRoute), "\(error as Any)")
            }
        }
    }

    private func bargain(with probe: ProbeClient.ProbeRoutes, isAnswered: Bool) async throws {
        var offers: [ProbeClient.Offer] = []
        func bargain() async throws(RoutingError) -> [String] {
            try await probe.bargain(prices: [Decimal(11) / 10, Decimal(5) / 2]) { offer in
                offers.append(offer)
                return ProbeClient.Bid(price: offer.price - 1, until: offers.count == 1 ? nil : .distantPast)
            }
        }
        if isAnswered {
            let past = Date.distantPast.timeIntervalSince1970
            #expect(try await bargain() == ["0.1 -", "1.5 \(past)"])
            #expect(offers.map(\.side) == [.right, .right])
        } else {
            // The gateway itself answers the first offer with null, which is not a bid.
            let error = await #expect(throws: RoutingError.self) { try await bargain() }
            #expect(error?.code == .typeMismatch && offers.count == 1)
        }
    }

    private static let file = "\(Script.root)/Tests/WaybillClientsTests/Support/ProbeClient.swift"

    /// `WAYBILL_WRITE_CLIENT=1` replaces the file by the client that is generated now.
    @Test func `the Swift client of the tests is the client that is generated now`() async throws {
        try await ProbeServer.run { server in
            let text = server.bus.document(of: .exposed).client(in: .swift, named: "Probe")
            if ProcessInfo.processInfo.environment["WAYBILL_WRITE_CLIENT"] == "1" {
                try text.write(toFile: Self.file, atomically: true, encoding: .utf8)
            }
            let written = try String(contentsOfFile: Self.file, encoding: .utf8)
            #expect(written == text)
        }
    }
}

extension RPCConnector.Configuration {
    fileprivate static var probe: Self {
        var configuration = Self()
        configuration.token = ProbeServer.token
        return configuration
    }
}
#endif
