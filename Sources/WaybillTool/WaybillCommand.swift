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

    /// Runs the command with the arguments of the process, and ends the process if the command fails.
    package static func main() async {
        do {
            var command = try await self.asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as FileError {
            Output.complain(error.description)
            self.exit(withError: ExitCode(error.status.rawValue))
        } catch {
            self.exit(withError: error)
        }
    }
}
#endif
