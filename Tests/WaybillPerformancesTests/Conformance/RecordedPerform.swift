import Foundation
import Waybill
import WaybillPerformances

/// One recorded case: what is asked of a router in which state, and what happened.
struct RecordedPerform {
    let id: String
    let events: [String]
    let state: String?
    let errorName: String?
    let result: Bool?
    private let config: [String: any Sendable]

    init?(_ value: [String: Any]) {
        guard let id = value["id"] as? String, let expect = value["expect"] as? [String: Any],
            let config = value["config"] as? [String: Any]
        else { return nil }
        self.id = id
        self.events = (expect["events"] as? [String] ?? []).map(Self.plain)
        self.state = expect["state"] as? String
        self.errorName = expect["errorName"] as? String
        self.result = expect["result"] as? Bool
        self.config = config.mapValues { $0 as? String ?? ($0 as? Bool).map(String.init) ?? "\($0)" }
    }

    /// An event without what only explains it.
    private static func plain(_ event: String) -> String {
        switch event {
        case "state back to unrouted": "state routing->unrouted"
        case "state -> removed": "state routed->removed"
        case "performerErrorHandler of this call": "performerErrorHandler"
        default: event.split(separator: " (").first.map(String.init) ?? event
        }
    }

    /// What happens here.
    struct Outcome {
        var events: [String] = []
        var code: RoutingError.Code?
        var state: PerformState?
        var result: Bool?
        /// Whether what is recorded as a fact, and not as events, is so.
        var fact = true
    }

    /// The codes of the bus that say what the recorded ones say.
    private static let codes: [String: RoutingError.Code] = [
        "invalidConfiguration": .noRoute, "destinationUnavailable": .noHandler,
        "actionFailed": .actionFailed, "overRoute": .overRoute, "infiniteRecursion": .infiniteRecursion,
    ]

    func expects(_ outcome: Outcome) -> Bool {
        outcome.fact && outcome.events == self.events
            && outcome.code == self.errorName.flatMap { Self.codes[$0] }
            && (self.state == nil || outcome.state?.rawValue == self.state)
            && (self.result == nil || outcome.result == self.result)
    }

    /// What the bus does; nil for a case that it has nothing for.
    func outcome() async throws -> Outcome? {
        let stage = try PerformStage(
            mustBeRemovedFirst: self.config["shouldRemoveBeforePerform"] as? String == "true"
        )
        for (key, value) in self.config {
            switch (key, value as? String) {
            case ("state", "unrouted") where self.config["action"] == nil:
                return try await stage.performOnce(
                    hasDestination: self.config["destination"] as? String == "obj"
                )
            case ("state", "unrouted"): return try await stage.removeUnperformed()
            case ("state", "routing"): return try await stage.performWhileRouting()
            case ("state", "removing"): return try await stage.performWhileRemoving()
            case ("state", _) where self.config["action"] as? String == "canRemove":
                return try await stage.loseDestination()
            case ("state", _): return try await stage.performAgain()
            case ("recursion depth", let depth): return await stage.nest(depth.flatMap { Int($0) } ?? 0)
            case ("url", "unknown"): return await stage.routeUnknown()
            case ("performer handlers", _): return try await stage.countHandlers()
            case ("same protocol registered by two routers", _), ("exclusive router for a destination", _):
                return await stage.provideTwice()
            case ("adapter cycle A->B->A", _): return try await stage.adaptInCircle()
            default: continue
            }
        }
        return nil
    }
}
