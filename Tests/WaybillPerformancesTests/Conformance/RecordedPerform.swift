internal import Foundation
internal import Waybill
internal import WaybillPerformances
internal import WaybillTestSupport

extension RecordedRouter {
    /// The behaviour of ZIKRouter for a destination that is created on demand.
    static let perform = Self(
        "zikrouter-perform",
        comparisons: 52,
        expected: RecordedPerform.expected,
        play: { try await RecordedPerform($0).outcome().columns }
    )
}

/// One recorded case: a request to a router in some state, and the result.
struct RecordedPerform {
    private let config: [String: JSON]

    init(_ recorded: RecordedCase) { self.config = recorded.config }

    /// Returns the recorded columns.
    ///
    /// Explanations are removed from the events, and a recorded fact is true.
    static func expected(_ recorded: RecordedCase) -> [String: JSON] {
        var columns = recorded.expect
        let isRule = columns["userInfo"] != nil
        let events = columns["events"]?.strings ?? []
        columns["events"] = .array(events.map { .string(isRule ? $0 : Self.plain($0)) })
        columns["errorName"] = columns["errorName"] ?? .null
        if columns["fact"] != nil { columns["fact"] = .bool(true) }
        if columns["userInfo"] != nil {
            // ZIKRouter has the URL among the values.
            var info = columns["userInfo"]?.object ?? [:]
            info["origin-url"] = recorded.config["url"]
            columns["userInfo"] = .object(info)
        }
        return columns
    }

    /// Returns an event without the words that only explain it.
    private static func plain(_ event: String) -> String {
        switch event {
        case "state back to unrouted": "state routing->unrouted"
        case "state -> removed": "state routed->removed"
        case "performerErrorHandler of this call": "performerErrorHandler"
        default: event.split(separator: " (").first.map(String.init) ?? event
        }
    }

    /// The result of the bus.
    struct Outcome {
        var events: [String] = []
        var code: RoutingError.Code?
        var state: PerformState?
        var result: Bool?
        /// Whether a fact is true that the recording describes in words and not as events.
        var fact: Bool?
        var info: [String: String]?

        /// The error codes of the bus for the recorded names and numbers.
        private static let codes: [(code: RoutingError.Code, name: String, number: Double)] = [
            (.noRoute, "invalidConfiguration", 1), (.noHandler, "destinationUnavailable", 2),
            (.actionFailed, "actionFailed", 3), (.overRoute, "overRoute", 4),
            (.infiniteRecursion, "infiniteRecursion", 5),
        ]

        var columns: [String: JSON] {
            let error = Self.codes.first { $0.code == self.code }
            var columns: [String: JSON] = [
                "events": .array(self.events.map { .string($0) }),
                "errorName": JSON(self.code.map { error?.name ?? "\($0)" }),
            ]
            columns["error"] = error.map { .number($0.number) }
            columns["state"] = self.state.map { .string($0.rawValue) }
            columns["result"] = self.result.map { .bool($0) }
            columns["fact"] = self.fact.map { .bool($0) }
            columns["userInfo"] = self.info.map { JSON($0) }
            return columns
        }
    }

    /// Returns the result of the bus, which is empty for a case that does not exist on a bus.
    func outcome() async throws -> Outcome {
        let mustBeRemovedFirst = self.config["shouldRemoveBeforePerform"]?.bool == true
        let stage = try PerformStage(mustBeRemovedFirst: mustBeRemovedFirst)
        let action = self.config["action"]?.string
        for (key, value) in self.config {
            switch (key, value.string) {
            case ("state", "unrouted") where action == nil:
                return try await stage.performOnce(
                    hasDestination: self.config["destination"]?.string == "obj"
                )
            case ("state", "unrouted"): return try await stage.removeUnperformed()
            case ("state", "routing"): return try await stage.performWhileRouting()
            case ("state", "removing"): return try await stage.performWhileRemoving()
            case ("state", _) where action == "canRemove": return try await stage.loseDestination()
            case ("state", _): return try await stage.performAgain()
            case ("recursion depth", _): return await stage.nest((value.passed as? Int) ?? 0)
            case ("url", "unknown"): return await stage.routeUnknown()
            case ("URL rule enabled", _):
                return try await stage.performByURL(self.config["url"]?.string ?? "")
            case ("performer handlers", _): return try await stage.countHandlers()
            case ("same protocol registered by two routers", _), ("exclusive router for a destination", _):
                return await stage.provideTwice()
            case ("adapter cycle A->B->A", _): return try await stage.adaptInCircle()
            case ("destination class does not conform to the registered protocol", _):
                return try Self.compileTime("Performances.swift", "does not conform to")
            default: continue
            }
        }
        return Outcome()
    }

    /// Returns the result of a case that the compiler rejects.
    ///
    /// `.ci/diagnostics` checks it.
    private static func compileTime(_ file: String, _ error: String) throws -> Outcome {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let text = try String(contentsOf: tests.appending(path: "Diagnostics/\(file)"), encoding: .utf8)
        return Outcome(fact: text.contains("// error: \(error)"))
    }
}
