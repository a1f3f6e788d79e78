#if Tool
package import ArgumentParser

/// The command line: asks the route language questions without writing a program.
package struct WaybillCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "waybill",
        abstract: "Explains where URLs lead and checks files of routes.",
        subcommands: [ExplainCommand.self, RoutesCommand.self]
    )

    package init() {}
}
#endif
