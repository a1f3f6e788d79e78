import Foundation
import Testing
import Waybill
import WaybillCompatibility
import WaybillRouting
import WaybillTestSupport

/// Each preset from end to end on a bus: register, route, call back, return, unregister.
@Suite(.timeLimit(.minutes(1)))
struct PresetTests {
    /// The input of a test of a preset.
    struct Run: Sendable {
        /// A URL in the form of the original, without a fragment.
        let url: String
        /// The fragment with the return URL.
        let returnURL: String
        /// The expected parameters.
        let parameters: [String: String]
        /// A URL of the same scheme that has no route.
        let lost: String
        let register: @Sendable (MessageBus, Stage) throws -> Void
        let unregister: @Sendable (MessageBus) -> Void
    }

    /// The handlers of a test, and the values that they have received.
    struct Stage: Sendable {
        let answers = Journal<Int?>()
        let parameters = Journal<[String: String]>()
        let returnURLs = Journal<String?>()
        let receipts = Journal<String>()

        /// Registers a handler that asks its caller, and replies.
        var pay: @Sendable (Message) async throws -> String {
            { message in
                self.parameters.add(message.parameters.all)
                self.returnURLs.add(message.returnURL)
                self.answers.add(try? await message.reply(with: 42, expecting: Int.self))
                return "paid"
            }
        }

        /// Registers a handler that records the value of the reply.
        var receipt: @Sendable (Message) throws -> Void {
            { message in self.receipts.add(try message.payload(as: String.self)) }
        }
    }

    /// Creates a run with two patterns.
    private static func patterns(
        _ pattern: String,
        _ url: String,
        _ parameters: [String: String],
        returning receipt: String,
        lost: String
    ) -> Run {
        Run(url: url, returnURL: receipt, parameters: parameters, lost: lost) { bus, stage in
            try bus.register(pattern, stage.pay)
            try bus.register(receipt, stage.receipt)
        } unregister: { bus in
            bus.unregister(pattern)
            bus.unregister(receipt)
        }
    }

    private static let runs: [String: Run] = [
        "yfRouter": Self.patterns(
            "YF:///order/:id",
            "yf://order/7?total=42",
            ["id": "7", "total": "42"],
            returning: "yf:///receipt",
            lost: "yf:///nowhere"
        ),
        "ftRouter": Self.patterns(
            "ft://order/pay",
            "ft://PUSH/order/pay?total=42",
            ["total": "42"],
            returning: "ft://home/receipt",
            lost: "ft://order/nowhere"
        ),
        "cocRouter": Self.patterns(
            "https://order.example.com/<id>/",
            "http://ORDER.example.com/7?total=42",
            ["total": "42"],
            returning: "home://receipt/",
            lost: "https://order.example.com/"
        ),
        "nativeConnector": Run(
            url: "app://order/pay?total=42",
            returnURL: "app://home/receipt?from=order",
            parameters: ["total": "42"],
            lost: "app://order/nowhere"
        ) { bus, stage in
            var actions = Actions()
            try actions.declare("pay", of: "Target_Order", values: .needed, stage.pay)
            try actions.declare("receipt", of: "Target_Home", values: .needed, stage.receipt)
            try bus.connect("app", to: NativeConnector(actions))
        } unregister: { bus in
            bus.unregister(scheme: "app")
        },
        "zikRouter": Self.patterns(
            "app://order/:id",
            "app://order/7?total=42",
            ["id": "7", "total": "42"],
            returning: "app://receipt",
            lost: "APP://order/7"
        ),
    ]

    @Test(arguments: [RoutingConventions.cocRouter, .zikRouter])
    func `a return URL without a scheme gets the scheme of the message in each preset`(
        conventions: RoutingConventions
    ) async throws {
        let bus = MessageBus(configuration: .quiet(by: conventions))
        let receipts = Journal<Int>()
        try bus.register("app://pay") { _ in 1 }
        try bus.register("app://refund") { message in
            #expect(message.replaceReturnURL(with: "home/receipt"))
            return 2
        }
        try bus.register("app:///home/receipt") { receipts.add(try $0.payload(as: Int.self)) }
        try await bus.route("app://pay#home/receipt")
        #expect(await eventually { receipts.entries == [1] })
        try await bus.route("app://refund#home/receipt")
        #expect(await eventually { receipts.entries == [1, 2] })
    }

    @Test func `a return URL can be as long as the limit of the bus`() async throws {
        var configuration = MessageBus.Configuration.quiet
        configuration.limits = RoutingLimits(urlLength: 32_768)
        let bus = MessageBus(configuration: configuration)
        let receipts = Journal<Int>()
        try bus.register("app://pay") { _ in 1 }
        try bus.register("app://receipt/all") { receipts.add(try $0.payload(as: Int.self)) }
        try await bus.route("app://pay#app://receipt/all?text=\(String(repeating: "x", count: 9_000))")
        #expect(await eventually { receipts.entries == [1] })
    }

    @Test(arguments: RoutingConventions.presets.keys.sorted())
    func `each preset registers, routes, replies, returns and unregisters`(name: String) async throws {
        let conventions = try #require(RoutingConventions.presets[name])
        let run = try #require(Self.runs[name], "the preset \(name) has no run here")
        let bus = MessageBus(configuration: .quiet(by: conventions))
        let stage = Stage()
        let uncaught = Journal<String>()
        bus.setUncaughtHandler { uncaught.add($0.address.text) }

        try run.register(bus, stage)
        #expect(bus.canRoute(run.url) && !bus.canRoute(run.lost))
        #expect(await failure { try await bus.route(run.lost) } != nil)

        let value: String = try await bus.route(run.url) { (total: Int) in total + 1 }
        #expect(value == "paid" && stage.answers.entries == [43])
        #expect(stage.parameters.entries == [run.parameters])
        #expect(stage.returnURLs.entries == [nil] && stage.receipts.count == 0)

        let reply = try await bus.route("\(run.url)#\(run.returnURL)")
        if conventions.hasFragment {
            let leg = try #require(reply.returnLeg)
            guard case .delivered = await leg.outcome else {
                Issue.record("the value did not reach \(leg.url): \(leg.current)")
                return
            }
            #expect(stage.returnURLs.entries.last == run.returnURL && stage.receipts.entries == ["paid"])
        } else {
            // YFRouter has no fragments, so the text is part of the last value.
            #expect(reply.returnLeg == nil && stage.receipts.count == 0)
            #expect(stage.parameters.entries.last?["total"] == "42#\(run.returnURL)")
        }

        run.unregister(bus)
        #expect(!bus.canRoute(run.url) && !bus.canRoute(run.returnURL))
        #expect(await failure { try await bus.route(run.url) } != nil)
        #expect(bus.statistics.inFlight == 0)
    }

    @Test func `the list of presets has each declared preset once`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
        let file = sources.appending(path: "WaybillCompatibility/RoutingConventions+Routers.swift")
        let declared = try String(contentsOf: file, encoding: .utf8)
            .matches(of: /public static let (\w+) = \{/).map { String($0.1) }
        #expect(!declared.isEmpty && declared.sorted() == RoutingConventions.presets.keys.sorted())
        #expect(Set(RoutingConventions.presets.values).count == declared.count)
    }
}
