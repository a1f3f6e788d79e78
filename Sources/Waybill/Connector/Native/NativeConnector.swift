public import WaybillRouting

/// Target-action: `app://user/detail?uid=1` calls the action `detail` of the target `User`.
///
/// ```swift
/// try bus.connect("native", to: NativeConnector(modulesOf: bus))
/// ```
///
/// The first segment names the target, with its first letter in either case; the last one names the action, in its case;
/// what stands between them plays no part. A URL with values, or with values passed by the caller, calls the
/// action that takes some, one without the action that takes none. An action that returns nothing replies `Void`.
///
/// A target or an action that is not there is `noHandler`, with both names and what could have been meant.
///
/// The idea is LiliCode's Router's. Its users keep their URLs with these choices of the bus's conventions: schemes in their own
/// case (`schemeIgnoresCase = false`), no default scheme (`missingScheme = .isError`), and names without a value left
/// out (`keepsQueryNamesWithoutValue = false`).
public struct NativeConnector: Connector {
    private let source: Source

    /// Where the actions come from.
    private enum Source: Sendable {
        case fixed(Actions)
        case modules(ModuleActions)
    }

    /// Makes a connector that finds its actions among the methods of the modules installed in a bus.
    ///
    /// Their targets are the names of the modules, without `Module` at the end: `UserModule` is the target `User`. A method
    /// with parameters takes values, and needs some if one of its parameters is required; it reads them by name,
    /// from the query and from what the caller passes. It runs on its module's loop, when its turn comes in the
    /// module's mailbox. Modules may be installed and taken out at any time.
    ///
    /// - Parameter bus: the bus; the connector does not keep it open.
    public init(modulesOf bus: MessageBus) { self.source = .modules(ModuleActions(bus.core)) }

    /// Makes a connector.
    ///
    /// - Parameter actions: what URLs can name.
    public init(_ actions: Actions) { self.source = .fixed(actions) }

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
        return try await self.actions.find(address, hasValues: hasValues).body(message)
    }

    /// Whether there is an action for the URL as it stands, with nothing passed by a caller.
    public func canRoute(_ address: Address) -> Bool {
        (try? self.actions.find(address, hasValues: !address.queryItems.isEmpty)) != nil
    }
}
