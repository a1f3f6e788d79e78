internal import Synchronization
internal import WaybillEventLoop
public import WaybillRouting

/// Target-action: `app://user/detail?uid=1` calls the action `detail` of the target `User`.
///
/// ```swift
/// try bus.connect("native", to: NativeConnector(modulesOf: bus))
/// ```
///
/// The first segment names the target, with its first letter in either case; the last one names the action,
/// in its case; what is between them plays no part. A URL with values, or with values passed by the caller,
/// calls the action that takes some, one without the action that takes none. An action that returns nothing
/// replies `Void`.
///
/// A target or an action that does not exist is `noHandler`, with both names and what could have been meant.
///
/// The idea is LiliCode's Router's. Its users keep their URLs with these choices of the bus's conventions:
/// schemes in their own case (`schemeIgnoresCase = false`), no default scheme (`missingScheme = .isError`),
/// and names without a value left out (`keepsQueryNamesWithoutValue = false`).
public struct NativeConnector: Connector {
    private let source: Source
    private let target: Target

    /// What of a URL names the target.
    @nonexhaustive
    public enum Target: Sendable, Hashable {
        /// Its first segment: `native://order/detail` is `detail` of `Order`.
        case firstSegment
        /// Its scheme, in any case: `order://detail` is `detail` of `Order`.
        case scheme
    }

    /// Where the actions come from.
    private enum Source: Sendable {
        case fixed(Actions)
        case modules(ModuleActions)
    }

    /// Makes a connector that finds its actions among the methods of the modules installed in a bus.
    ///
    /// Their targets are the names of the modules, without `Module` or `Controller` at the end, and without
    /// `Target_` at the beginning: `UserModule` is the target `User`. A route that is one segment and nothing
    /// else, as that of `@Route("/")` is, is the default action of its module. A method with parameters takes
    /// values, and needs some if one of its parameters is required; it reads them by name, from the query and
    /// from the values that the caller passes. A method that takes a `Message` is called with values and
    /// without. A method runs on its module's loop, in the order of the module's mailbox. Modules may be
    /// installed and uninstalled at any time.
    ///
    /// With the scheme as the target, modules are reached by convention, with nothing configured for a URL
    /// (COCRouter's way):
    ///
    /// ```swift
    /// try bus.connect("order", to: NativeConnector(modulesOf: bus, target: .scheme))
    /// try await bus.route("order://detail?id=7")          // OrderModule.detail(id:)
    /// ```
    ///
    /// - Parameters:
    ///   - bus: the bus; the connector does not keep it open.
    ///   - target: what of a URL names the target.
    public init(modulesOf bus: MessageBus, target: Target = .firstSegment) {
        self.source = .modules(ModuleActions(bus.core))
        self.target = target
    }

    /// Makes a connector.
    ///
    /// - Parameters:
    ///   - actions: what URLs can name.
    ///   - target: what of a URL names the target.
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

    /// Calls the action that the URL names.
    public nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
        let address = message.address
        let hasValues = !message.parameters.call.isEmpty || !address.queryItems.isEmpty
        return try await self.find(address, hasValues: hasValues).body(message)
    }

    private func find(_ address: Address, hasValues: Bool) throws(RoutingError) -> Actions.Action {
        try self.actions.find(address, hasValues: hasValues, isSchemeTarget: self.target == .scheme)
    }

    /// Whether there is an action for the URL as it stands, with nothing passed by a caller.
    public func canRoute(_ address: Address) -> Bool {
        (try? self.find(address, hasValues: !address.queryItems.isEmpty)) != nil
    }
}

/// The actions that the modules of a bus declare, as modules come and go.
///
/// It knows the routes of modules by their IDs, so that it keeps no module which has been taken out.
final class ModuleActions: Sendable {
    private let core: BusCore
    private let cache = Locked<(generation: Int, actions: Actions)?>(nil)

    init(_ core: BusCore) { self.core = core }

    /// The actions as they are now.
    var current: Actions {
        // Before they are read: if they change meanwhile, they are read again.
        let generation = self.core.registry.generation.load(ordering: .acquiring)
        if let cached = self.cache.withLock({ $0 }), cached.generation == generation { return cached.actions }
        let actions = self.read()
        self.cache.withLock { $0 = (generation, actions) }
        return actions
    }

    private func read() -> Actions {
        let routes = try? self.core.registry.read { table throws(RoutingError) in
            table.routes.compactMap { route -> (RouteID, RouteDescription)? in
                guard let description = table.handler(for: route.id)?.routeDescription else {
                    return nil
                }
                return (route.id, description)
            }
        }
        var actions = Actions()
        for (id, description) in routes ?? [] {
            guard let module = description.module, let name = description.action else { continue }
            let core = self.core
            let target = ModuleName(module).stem
            if description.isDefaultAction {
                let action = Actions.Action(name: "", target: target, values: description.values) { message in
                    try await core.act(id, message)
                }
                try? actions.add(action)
            }
            let action = Actions.Action(name: name, target: target, values: description.values) { message in
                try await core.act(id, message)
            }
            // Of two that cannot be told apart the one that was registered first counts.
            try? actions.add(action)
        }
        return actions
    }
}

extension BusCore {
    /// Has a route handle a message that another handler got.
    fileprivate nonisolated(nonsending) func act(
        _ route: RouteID,
        _ message: Message
    ) async throws(RoutingError) -> any Sendable {
        let target = try self.registry.read { table throws(RoutingError) in table.handler(for: route) }
        let member = target?.group?.resolve(message.parameters, nil, on: self.currentShard?.loop)
        guard let handler = member?.target.handler ?? target?.handler else {
            throw .unregistered(url: message.parameters.url)
        }
        return try await handler.handle(message).value()
    }
}

extension RouteDescription {
    /// Whether it is what a URL leads to that names the module alone.
    fileprivate var isDefaultAction: Bool {
        guard let pattern = try? RoutePattern(self.pattern), let address = try? Address(self.pattern) else {
            return false
        }
        return pattern.parameters.isEmpty && address.segments.count == 1
    }

    /// Whether the method needs values.
    fileprivate var values: Actions.Action.Values {
        if self.parameters.isEmpty { return self.takesMessage ? .optional : .none }
        return self.parameters.contains(where: \.isRequired) ? .needed : .optional
    }
}
