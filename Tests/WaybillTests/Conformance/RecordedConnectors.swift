internal import Waybill
internal import WaybillRouting
internal import WaybillTestSupport

/// One recorded case: the connectors of a bus, what is asked of it, and what was answered.
struct RecordedConnectors: Decodable {
    struct Config: Decodable {
        /// Pairs of a scheme and the kind of its connector.
        let connectors: [[String]]
    }

    struct Expectation: Decodable {
        let matched: String?
        let params: [String: String]
        let result: String?
        let errorText: String?
        let exception: String?
        /// Whether the connector was asked, and refused.
        let willPerform: Bool?
    }

    let id: String
    let config: Config
    let url: String
    let params: [String: String]?
    let expect: Expectation

    /// What the bus answers.
    enum Answer {
        case value(String)
        case error(RoutingError)
    }

    /// What an action saw.
    struct Call: Sendable {
        let matched: String
        let params: [String: String]
    }

    /// Whether an answer is the recorded one.
    func expects(_ answer: (answer: Answer, call: Call?)) -> Bool {
        guard answer.call?.matched == self.expect.matched, answer.call?.params ?? [:] == self.expect.params
        else {
            return false
        }
        switch answer.answer {
        case .value(let value):
            return self.expect.errorText == nil && self.expect.exception == nil
                && value == self.expect.result ?? "()"
        // A refusal was quiet there; here it is an error of its own.
        case .error(let error) where self.expect.willPerform == true: return error.code == .refused
        // What raised an exception there is any error here, as long as it is not a refusal.
        case .error(let error):
            return (self.expect.errorText ?? self.expect.exception) != nil && error.code != .refused
        }
    }

    /// What a bus with the conventions of the original says to the URL of the case.
    func answer() async throws -> (answer: Answer, call: Call?) {
        var configuration = MessageBus.Configuration.quiet
        configuration.conventions.schemeIgnoresCase = false
        configuration.conventions.missingScheme = .isError
        configuration.conventions.keepsQueryNamesWithoutValue = false
        let bus = MessageBus(configuration: configuration)
        let calls = Journal<Call>()
        for pair in self.config.connectors { try self.connect(pair[0], pair[1], bus, calls) }
        do throws(RoutingError) {
            let reply = try await bus.route(self.url, parameters: self.params ?? [:])
            return (.value("\(reply.value)"), calls.entries.first)
        } catch {
            return (.error(error), calls.entries.first)
        }
    }

    private func connect(
        _ scheme: String,
        _ kind: String,
        _ bus: MessageBus,
        _ calls: Journal<Call>
    ) throws {
        switch kind {
        case "native": try bus.connect(scheme, to: NativeConnector(try Self.actions(calls)))
        case "http": try bus.connect(scheme, to: StubConnector { _ in "a page" })
        case "second": try bus.connect(scheme, to: StubConnector { _ in "SECOND" })
        case "deny":
            var connector = StubConnector { _ in "passed" }
            connector.passes = { _ in throw RoutingError.refused("denied") }
            try bus.connect(scheme, to: connector)
        // There is no such thing as no connector here: nothing is connected.
        default: break
        }
    }

    /// The targets that the cases were recorded with.
    private static func actions(_ calls: Journal<Call>) throws -> Actions {
        var actions = Actions()
        func declare(_ selector: String, of target: String, _ value: (any Sendable)? = nil) throws {
            let takesValues = selector.hasSuffix(":")
            let name = takesValues ? String(selector.dropLast()) : selector
            try actions.declare(name, of: target, values: takesValues ? .needed : .none) { message in
                calls.add(Call(matched: "Target_\(target).\(selector)", params: message.parameters.all))
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
}
