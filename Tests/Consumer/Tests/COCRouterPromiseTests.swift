import Foundation
import Testing
import Waybill
import WaybillCompatibility
import WaybillConfiguration
import WaybillTesting

/// A controller that COCRouter finds by its name. Its property has the name that COCRouter requires.
@Module("app://orders")
actor OrderController {
    private var context: [String: String] = [:]

    @Route func detail(id: Int) -> String {
        self.context["id"] = "\(id)"
        return "order \(id)"
    }

    @Route func pay(discountID: String, paySuccess: @Sendable (String) -> Void) { paySuccess(discountID) }

    @Route func all(_ message: Message) -> Int { message.parameters.query.count }
}

/// A component that does not import the bus.
actor Pantry {
    func take(_ name: String) -> String { "took \(name)" }
}

/// The promises of COCRouter, for a program that has migrated from COCRouter.
struct COCRouterPromiseTests {
    private let bus = MessageBus(configuration: .init(conventions: .cocRouter))

    @Test func `connectModules connects the scheme of each installed controller`() async throws {
        try await bus.install { OrderController() }
        #expect(try bus.connectModules().map(\.pattern) == ["order:"])
        #expect(try await bus.route("order://detail?id=7", as: String.self) == "order 7")
        #expect(try await bus.route("order://all", as: Int.self) == 0)
        #expect(try await bus.route("order://all?a=1&b=2", as: Int.self) == 2)
        let paid = Log()
        let forwarder = COCRouterForwarder(bus)
        let paySuccess: @Sendable (String) -> Void = { paid.add($0) }
        let values: [String: any Sendable] = ["discountID": "D1", "paySuccess": paySuccess]
        #expect(await forwarder.forward("order://pay", parameters: values).mode == .done)
        #expect(paid.entries == ["D1"])
        #expect(await forwarder.forward("order://pay").mode == .noHandler)
    }

    @Test func `each forward completes once, and each filter then receives the failure`() async throws {
        let seen = Log()
        try bus.register("https://z.cocer.com/<id>/") { message in message.parameters["id"] ?? "" }
        bus.setForwardFilter { url, mode in seen.add("bus \(mode.rawValue)") }
        let forwarder = COCRouterForwarder(bus) { url, mode in seen.add("filter \(mode.rawValue)") }
        for url in ["http://z.cocer.com/123", "https://z.cocer.com/", "no url"] {
            await forwarder.forward(url) { seen.add("complete \($0.mode.rawValue)") }
        }
        #expect(
            seen.entries == [
                "complete 200", "complete 401", "filter 401", "bus 401", "complete 400", "filter 400",
                "bus 400",
            ]
        )
    }

    @Test func `a component and its configuration file are tested by the scheme`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try #"{ "one order": { "detail": "one/<id>/" } }"#.write(
            to: folder.appending(path: "OrderConfig.json"),
            atomically: true,
            encoding: .utf8
        )
        let configuration = try RouteConfiguration(ofScheme: "order", in: folder)
        try await bus.install { OrderController() }
        try bus.connectModules()
        try bus.load(configuration, named: "order")
        let pantry = Pantry()
        try bus.register("pantry://take/<name>") { await pantry.take(try $0.parameters.require("name")) }
        var options = ModuleTestCase.Options.cocRouter
        options.configuration = configuration
        options.printsSeed = false
        let paySuccess: @Sendable (String) -> Void = { _ in }
        let test = ModuleTestCase(
            scheme: "order",
            on: bus,
            arguments: ["paySuccess": paySuccess],
            options: options
        )
        let report = try await test.run()
        #expect(
            report.timings.map(\.route).sorted() == [
                "order://all", "order://detail", "order://one/<id>/", "order://pay",
            ]
        )
        options.configuration = nil
        try await ModuleTestCase(scheme: "pantry", on: bus, options: options).run()
    }
}
