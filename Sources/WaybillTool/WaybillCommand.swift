#if Tool
package import ArgumentParser

/// The command `waybill`.
///
/// The command explains and checks routes without a running program, and sends requests to running programs
/// that serve their bus.
package struct WaybillCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "waybill",
        abstract:
            "Matches URLs, checks and compares routes, and calls programs that serve their bus.",
        subcommands: [
            ExplainCommand.self, RoutesCommand.self, DiffCommand.self, ClientCommand.self, CallCommand.self,
            WatchCommand.self, BenchCommand.self,
        ] + Self.clusterCommands + Self.storeCommands
    )

    #if NATS
    private static let clusterCommands: [any ParsableCommand.Type] = [NodesCommand.self]
    #else
    private static let clusterCommands: [any ParsableCommand.Type] = []
    #endif

    #if Durable
    private static let storeCommands: [any ParsableCommand.Type] = [StoreCommand.self]
    #else
    private static let storeCommands: [any ParsableCommand.Type] = []
    #endif

    package init() {}
}
#endif
