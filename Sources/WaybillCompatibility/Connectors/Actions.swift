public import Waybill
public import WaybillRouting

/// The actions by target.
///
/// A ``NativeConnector`` looks up the action of a URL in this collection.
///
/// ```swift
/// var actions = Actions()
/// try actions.declare("detail", of: "User", values: .needed) { message in
///     User(uid: try message.parameters.require("uid"), name: "Lili")
/// }
/// try bus.connect("native", to: NativeConnector(actions))
/// ```
public struct Actions: Sendable {
    /// The actions of a target, by name.
    private struct Target {
        let name: String
        var actions: [String: [Action]] = [:]
    }

    private var targets: [String: Target] = [:]

    /// Creates an empty collection.
    public init() {}

    /// Declares an action.
    ///
    /// - Parameters:
    ///   - name: The name of the action in URLs. An empty name declares the target's default action, for a
    ///     URL that names only the target.
    ///   - target: The name of the target. The first letter may be in either case. The other letters must
    ///     match exactly. A prefix `Target_` and a suffix `Module` or `Controller` are ignored.
    ///   - values: Whether the action handles URLs with values, without values, or both.
    ///   - body: The closure, which runs on the bus's loop like a handler that may suspend.
    /// - Throws: `conflict` if the target already has that action.
    public mutating func declare<Value: Sendable>(
        _ name: String,
        of target: String,
        values: Action.Values,
        _ body: @escaping @Sendable (Message) async throws -> Value
    ) throws(RoutingError) {
        try self.add(Action(name: name, target: target, values: values) { try await body($0) })
    }

    mutating func add(_ action: Action) throws(RoutingError) {
        let key = ModuleName(action.target).key
        var target = self.targets[key] ?? Target(name: action.target)
        var rivals = target.actions[action.name] ?? []
        guard !rivals.contains(where: { $0.values == action.values }) else {
            throw RoutingError(
                .conflict,
                message:
                    "the target `\(target.name)` already has the action `\(action.name)`; choose another name"
            )
        }
        rivals.append(action)
        target.actions[action.name] = rivals
        self.targets[key] = target
    }

    /// All actions, sorted by target and name.
    public var all: [Action] {
        self.targets.values.flatMap { $0.actions.values.joined() }
            .sorted { ($0.target, $0.name) < ($1.target, $1.name) }
    }

    /// Returns the action that a URL names.
    ///
    /// The target is the first segment, or the scheme. The last segment is the action. If the target is the
    /// only part, the URL names the target's default action.
    func find(
        _ address: Address,
        hasValues: Bool,
        isSchemeTarget: Bool = false
    ) throws(RoutingError) -> Action {
        let names = (isSchemeTarget ? [address.scheme] : []) + address.segments
        guard let wanted = names.first else {
            throw Self.missing(
                address,
                "the URL names neither a target nor an action",
                advice: Self.example(address.scheme)
            )
        }
        let target =
            isSchemeTarget
            ? self.targets.values.filter { ModuleName($0.name).schemeKey == ModuleName(wanted).schemeKey }
                .min { $0.name < $1.name }
            : self.targets[ModuleName(wanted).key]
        let name = names.count > 1 ? names[names.count - 1] : ""
        guard !name.isEmpty || target?.actions[name] != nil else {
            throw Self.missing(
                address,
                "the URL names the target `\(wanted)`, but no action",
                advice: isSchemeTarget ? "as in \(address.scheme)://detail" : Self.example(address.scheme)
            )
        }
        guard let target else {
            throw Self.missing(
                address,
                "there is no target `\(wanted)`, so its action `\(name)` cannot be called",
                advice: Self.advice(wanted, self.targets.values.map(\.name))
            )
        }
        guard let namesakes = target.actions[name] else {
            throw Self.missing(
                address,
                "the target `\(target.name)` has no action `\(name)`",
                advice: Self.advice(name, Array(target.actions.keys))
            )
        }
        let fitting = namesakes.compactMap { action in
            action.distance(hasValues: hasValues).map { (action: action, distance: $0) }
        }
        guard let best = fitting.min(by: { $0.distance < $1.distance }) else {
            throw Self.missing(
                address,
                "the target `\(target.name)` has no action `\(name)` \(hasValues ? "with" : "without") values",
                advice: "another action of this name is called \(hasValues ? "without" : "with") values"
            )
        }
        return best.action
    }

    private static func example(_ scheme: String) -> String {
        "the URL must name a target and an action, as in \(scheme)://user/detail"
    }

    private static func missing(_ address: Address, _ problem: String, advice: String) -> RoutingError {
        RoutingError(
            .noHandler,
            url: address.text,
            message: advice.isEmpty ? problem : "\(problem); \(advice)"
        )
    }

    /// Returns the nearest name as a suggestion, or a list of existing names when no name is near.
    private static func advice(_ wanted: String, _ names: [String]) -> String {
        let typed = Array(wanted.utf8)
        let tolerance = min(max(2, typed.count / 3), 12)
        let near =
            names.compactMap { name in
                EditDistance.between(Array(name.utf8), typed, limit: tolerance).map {
                    (name: name, distance: $0)
                }
            }
            .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
        if let near { return "did you mean `\(near.name)`?" }
        guard !names.isEmpty else { return "" }
        let some = names.sorted().prefix(8).map { "`\($0)`" }.joined(separator: ", ")
        return "there \(names.count == 1 ? "is" : "are") \(some)\(names.count > 8 ? " and more" : "")"
    }
}

extension Actions {
    /// An action of a target, which a ``NativeConnector`` calls.
    public struct Action: Sendable {
        /// Whether an action is called with values.
        ///
        /// Two actions of one target may have the same name if this property differs. For example,
        /// `app://user/log` and `app://user/log?text=hi` may call different actions.
        public enum Values: Sendable, Hashable {
            /// The action is called for URLs without values.
            case none
            /// The action is called for URLs with values, or with values that the caller passes.
            case needed
            /// The action is called with and without values, unless another action of the same name fits the
            /// URL better.
            case optional
        }

        /// The name, which must equal the last segment of a URL.
        ///
        /// Upper and lower case are different.
        public let name: String

        /// The declared name of the target.
        public let target: String

        /// Whether the action is called with values.
        public let values: Values

        let body: @Sendable (Message) async throws -> any Sendable

        /// Returns a number that is less when the action fits a URL better, or nil when the action does not
        /// fit.
        func distance(hasValues: Bool) -> Int? {
            switch (self.values, hasValues) {
            case (.needed, true), (.none, false): 0
            case (.optional, _): 1
            case (.needed, false), (.none, true): nil
            }
        }
    }
}
