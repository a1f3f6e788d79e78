public import Waybill
internal import WaybillEventLoop
public import WaybillRouting

/// A connector for target-action URLs: `app://user/detail?uid=1` calls the action `detail` of the target
/// `User`.
///
/// ```swift
/// try bus.connect("native", to: NativeConnector(modulesOf: bus))
/// ```
///
/// The first segment names the target, and its first letter may be in either case. The last segment names the
/// action, in its exact case. Segments between the target and the action are ignored. A URL with values, or a
/// call that passes values, calls the action with values. A URL without values calls the action without
/// values. An action that returns nothing replies with `Void`.
///
/// A target or an action that does not exist fails with `noHandler`, which contains both names and a
/// suggestion.
///
/// The idea comes from the library Router by LiliCode. Its users can keep their URLs with these conventions
/// of the bus: schemes in their own case (`schemeIgnoresCase = false`), no default scheme (`missingScheme =
/// .isError`), and names without a value left out (`keepsQueryNamesWithoutValue = false`).
public struct NativeConnector: Connector {
    private let source: Source
    private let target: Target

    /// The part of a URL that names the target.
    @nonexhaustive
    public enum Target: Sendable, Hashable {
        /// The first segment: `native://order/detail` calls `detail` of `Order`.
        case firstSegment
        /// The scheme, in any case: `order://detail` calls `detail` of `Order`.
        case scheme
    }

    private enum Source: Sendable {
        case fixed(Actions)
        case modules(ModuleActions)
    }

    /// Creates a connector whose actions are the methods of the modules installed in a bus.
    ///
    /// The targets are the names of the modules, without a prefix `Target_` and without a suffix `Module` or
    /// `Controller`. For example, `UserModule` is the target `User`. A route with a pattern of one segment,
    /// for example the route of `@Route("/")`, is the default action of its module.
    ///
    /// A method with parameters takes values. If one of its parameters is required, the method is called only
    /// with values. The method reads each parameter by name, from the query or from the values that the
    /// caller passes. A method that takes a `Message` is called with and without values. A method runs on its
    /// module's loop, in the order of the module's mailbox. Modules may be installed and uninstalled at any
    /// time.
    ///
    /// When the scheme names the target, URLs reach modules by convention, without a configuration for each
    /// URL, as in the library COCRouter:
    ///
    /// ```swift
    /// try bus.connect("order", to: NativeConnector(modulesOf: bus, target: .scheme))
    /// try await bus.route("order://detail?id=7")          // OrderModule.detail(id:)
    /// ```
    ///
    /// - Parameters:
    ///   - bus: The bus. The connector does not keep the bus open.
    ///   - target: The part of a URL that names the target.
    public init(modulesOf bus: MessageBus, target: Target = .firstSegment) {
        self.source = .modules(ModuleActions(bus.unowned))
        self.target = target
    }

    /// Creates a connector with fixed actions.
    ///
    /// - Parameters:
    ///   - actions: The actions that URLs can name.
    ///   - target: The part of a URL that names the target.
    public init(_ actions: Actions, target: Target = .firstSegment) {
        self.source = .fixed(actions)
        self.target = target
    }

    private var actions: Actions {
        switch self.source {
        case .fixed(let actions): actions
        case .modules(let modules): modules.current
        }
    }

    /// Calls the action that the message's URL names.
    public nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
        let address = message.address
        let hasValues = !message.parameters.call.isEmpty || !address.queryItems.isEmpty
        return try await self.find(address, hasValues: hasValues).body(message)
    }

    private func find(_ address: Address, hasValues: Bool) throws(RoutingError) -> Actions.Action {
        try self.actions.find(address, hasValues: hasValues, isSchemeTarget: self.target == .scheme)
    }

    /// Returns whether the URL names an action, if the caller passes no values.
    public func canRoute(_ address: Address) -> Bool {
        (try? self.find(address, hasValues: !address.queryItems.isEmpty)) != nil
    }
}

/// The actions of the modules that are installed in a bus.
///
/// The type stores the IDs of the modules' routes, so that it does not keep an uninstalled module alive.
final class ModuleActions: Sendable {
    private let bus: MessageBus
    private let cache = Locked<(generation: Int, actions: Actions)?>(nil)

    init(_ bus: MessageBus) { self.bus = bus }

    var current: Actions {
        // Read the generation before the actions. If the actions change between the two reads, the next call
        // reads the actions again.
        let generation = self.bus.routeGeneration
        if let cached = self.cache.withLock({ $0 }), cached.generation == generation { return cached.actions }
        let actions = self.loadActions()
        self.cache.withLock { $0 = (generation, actions) }
        return actions
    }

    private func loadActions() -> Actions {
        var actions = Actions()
        for (route, description) in self.bus.moduleActions {
            guard let module = description.module, let name = description.action else { continue }
            let target = ModuleName(module).stem
            for name in description.isDefaultAction ? ["", name] : [name] {
                let action = Actions.Action(name: name, target: target, values: description.values) {
                    [bus] message in try await bus.act(route, message)
                }
                // If two actions cannot be distinguished, keep the action that was registered first.
                try? actions.add(action)
            }
        }
        return actions
    }
}

extension RouteDescription {
    /// Whether the route is the default action, for a URL that names only the module.
    fileprivate var isDefaultAction: Bool {
        guard let pattern = try? RoutePattern(self.pattern), let address = try? Address(self.pattern) else {
            return false
        }
        return pattern.parameters.isEmpty && address.segments.count == 1
    }

    /// Whether the method is called with values, without values, or both.
    fileprivate var values: Actions.Action.Values {
        if self.parameters.isEmpty { return self.takesMessage ? .optional : .none }
        return self.parameters.contains(where: \.isRequired) ? .needed : .optional
    }
}
