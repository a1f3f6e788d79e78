public import WaybillRouting

/// Actions by target: what a ``NativeConnector`` looks URLs up in.
///
/// ```swift
/// var actions = Actions()
/// try actions.declare("detail", of: "User", values: .needed) { message in
///     User(uid: try message.parameters.require("uid"), name: "Lili")
/// }
/// try bus.connect("native", to: NativeConnector(actions))
/// ```
public struct Actions: Sendable {
    /// A target's actions by name.
    private struct Target {
        let name: String
        var actions: [String: [Action]] = [:]
    }

    private var targets: [String: Target] = [:]

    /// Makes an empty list.
    public init() {}

    /// Declares an action.
    ///
    /// - Parameters:
    ///   - name: its name, as URLs write it; an empty one is the target's default action, for a URL that
    ///     names the target alone.
    ///   - target: the target that it belongs to; its first letter may be in either case, the rest counts as
    ///     it stands, without `Target_` before it and `Module` or `Controller` behind it.
    ///   - values: whether it is called with values.
    ///   - body: what it does; it runs on the bus's loop as a handler that may suspend.
    /// - Throws: `conflict` if the target has that action already.
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
                message: "the target `\(target.name)` has the action `\(action.name)` already"
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

    /// The action that a URL names: its first segment is the target, or its scheme; its last one is the
    /// action, and the default action is meant if it has no other.
    ///
    /// - Throws: `noHandler`, naming both.
    func find(
        _ address: Address,
        hasValues: Bool,
        isSchemeTarget: Bool = false
    ) throws(RoutingError) -> Action {
        let names = (isSchemeTarget ? [address.scheme] : []) + address.segments
        guard let wanted = names.first else {
            throw Self.missing(address, "it names no target and no action", Self.example(address.scheme))
        }
        let target =
            isSchemeTarget
            ? self.targets.values.first { ModuleName($0.name).schemeKey == ModuleName(wanted).schemeKey }
            : self.targets[ModuleName(wanted).key]
        let name = names.count > 1 ? names[names.count - 1] : ""
        guard !name.isEmpty || target?.actions[name] != nil else {
            throw Self.missing(
                address,
                "it names the target `\(wanted)` and no action",
                isSchemeTarget ? "as in \(address.scheme)://detail" : Self.example(address.scheme)
            )
        }
        guard let target else {
            throw Self.missing(
                address,
                "there is no target `\(wanted)` to have an action `\(name)`",
                Self.advice(wanted, self.targets.values.map(\.name))
            )
        }
        guard let namesakes = target.actions[name] else {
            throw Self.missing(
                address,
                "the target `\(target.name)` has no action `\(name)`",
                Self.advice(name, Array(target.actions.keys))
            )
        }
        let fitting = namesakes.compactMap { action in
            action.distance(hasValues: hasValues).map { (action: action, distance: $0) }
        }
        guard let best = fitting.min(by: { $0.distance < $1.distance }) else {
            throw Self.missing(
                address,
                "the target `\(target.name)` has no action `\(name)` \(hasValues ? "with" : "without") values",
                "it has one that is called \(hasValues ? "without" : "with") them"
            )
        }
        return best.action
    }

    private static func example(_ scheme: String) -> String {
        "a target and then an action are needed, as in \(scheme)://user/detail"
    }

    private static func missing(_ address: Address, _ what: String, _ advice: String) -> RoutingError {
        RoutingError(.noHandler, url: address.text, message: advice.isEmpty ? what : "\(what); \(advice)")
    }

    /// What could have been meant, or what there is.
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
    /// Something that a target does, as a ``NativeConnector`` finds it.
    public struct Action: Sendable {
        /// Whether an action is called with values.
        ///
        /// Two actions of one target may differ in nothing else: `app://user/log` and
        /// `app://user/log?text=hi` may be two.
        public enum Values: Sendable, Hashable {
            /// It is called for URLs without values.
            case none
            /// It is called for URLs with values, or with values passed by the caller.
            case needed
            /// It is called for both, unless another action of the same name fits better.
            case optional
        }

        /// The name that a URL's last segment has to have, in its case.
        public let name: String

        /// The name of the target, as it was declared.
        public let target: String

        /// Whether it is called with values.
        public let values: Values

        let body: @Sendable (Message) async throws -> any Sendable

        /// How well it fits: less is better, nil if it does not.
        func distance(hasValues: Bool) -> Int? {
            switch (self.values, hasValues) {
            case (.needed, true), (.none, false): 0
            case (.optional, _): 1
            case (.needed, false), (.none, true): nil
            }
        }
    }
}
