internal import Waybill
internal import WaybillCompatibility
internal import WaybillRouting
internal import WaybillTestSupport

extension RecordedRouter {
    static let liliCodeRouter = Self(
        "lilicode-router",
        comparisons: 134,
        notes: ["errorCode": "is 0 for every failure there; here the domain and the sentence are compared"],
        expected: LiliCodeStage.expected,
        play: { try await LiliCodeStage($0).play() }
    )
}

/// A bus with the conventions of LiliCode's Router and its connectors, and the recorded calls.
struct LiliCodeStage {
    private let recorded: RecordedCase
    private let bus: MessageBus
    private let calls = Journal<(matched: String, message: Message)>()
    private let asked = Journal<String>()

    init(_ recorded: RecordedCase) throws {
        self.recorded = recorded
        self.bus = MessageBus(configuration: .quiet(by: .nativeConnector))
        for pair in recorded.config["connectors"]?.array.map(\.strings) ?? [] where pair.count == 2 {
            try self.connect(pair[0], pair[1])
        }
    }

    /// A connector with one answer.
    private struct Fixed: Connector {
        let answer: String
        var refuses = false
        let asked: Journal<String>

        nonisolated(nonsending) func willRoute(_ message: Message) async throws {
            self.asked.add(message.address.text)
            if self.refuses { throw RoutingError.refused("denied") }
        }

        nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable { self.answer }
    }

    private func connect(_ scheme: String, _ kind: String) throws {
        switch kind {
        case "native": try self.bus.connect(scheme, to: NativeConnector(self.actions()))
        case "http": try self.bus.connect(scheme, to: Fixed(answer: "a page", asked: self.asked))
        case "second": try self.bus.connect(scheme, to: Fixed(answer: "SECOND", asked: self.asked))
        case "deny":
            try self.bus.connect(scheme, to: Fixed(answer: "passed", refuses: true, asked: self.asked))
        // A case without a connector is a bus without a connection.
        default: break
        }
    }

    /// The targets of the recorded cases.
    private func actions() throws -> Actions {
        let calls = self.calls
        var actions = Actions()
        func declare(_ selector: String, of target: String, _ value: (any Sendable)? = nil) throws {
            let takesValues = selector.hasSuffix(":")
            let name = takesValues ? String(selector.dropLast()) : selector
            try actions.declare(name, of: target, values: takesValues ? .needed : .none) { message in
                calls.add(("Target_\(target).\(selector)", message))
                return value ?? "R:\(selector)"
            }
        }
        try declare("detail:", of: "User")
        try declare("userCenter", of: "User")
        try declare("log:", of: "User", ())
        try declare("log", of: "User", ())
        try declare("all", of: "OrderList")
        try declare("a", of: "user2")
        return actions
    }

    func play() async throws -> [String: JSON] {
        var observed: [String: JSON] = [:]
        let error = await failure {
            let reply = try await self.bus.route(self.recorded.url, parameters: self.recorded.parameters)
            observed["result"] = reply.value is Void ? .null : .string("\(reply.value)")
        }
        let call = self.calls.entries.first
        observed["matched"] = JSON(call?.matched)
        observed["params"] = JSON(call?.message.parameters.all ?? [:])
        observed["exception"] = .bool(error != nil)
        observed["willPerform"] = .bool(self.asked.count == 1 && error?.code == .refused)
        observed["result"] = observed["result"] ?? .null
        guard let error else { return observed }
        observed["errorDomain"] = .string(error.code == .noHandler ? "NativeConnector" : "router")
        let message = error.message.lowercased()
        observed["errorText"] = .array(
            Self.names(in: self.recorded).filter { message.contains("`\($0.lowercased())`") }.map {
                .string($0)
            }
        )
        return observed
    }

    /// Returns the names in a recorded sentence: a scheme, or a target and an action.
    private static func names(in recorded: RecordedCase) -> [String] {
        guard let text = recorded.expect["errorText"]?.string else { return [] }
        if let match = text.firstMatch(of: /注册(.+)这个Scheme/) { return [String(match.1)] }
        guard let match = text.firstMatch(of: /Target_(\S+) 接口类中找不到 (\S+?):? 方法/) else { return [] }
        return match.1 == "(null)" ? [String(match.2)] : [String(match.1), String(match.2)]
    }

    /// The recorded columns.
    ///
    /// A sentence is reduced to the names in it, and an exception to the fact that it was thrown.
    static func expected(_ recorded: RecordedCase) -> [String: JSON] {
        var columns = recorded.expect
        if columns["errorText"] != nil {
            columns["errorText"] = .array(Self.names(in: recorded).map { .string($0) })
        }
        // The original does not report a refusal. Waybill throws an error.
        let isRefused = columns["willPerform"]?.bool == true
        let fails = isRefused || columns["exception"] != nil || columns["errorDomain"] != nil
        columns["exception"] = .bool(fails)
        columns["willPerform"] = .bool(isRefused)
        columns["result"] = columns["result"] ?? .null
        return columns
    }
}
