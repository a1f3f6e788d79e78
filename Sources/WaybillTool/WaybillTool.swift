internal import ArgumentParser

/// The command line: asks the route language questions without writing a program.
@main
struct WaybillTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "waybill",
        abstract: "Explains where URLs lead and checks files of routes.",
        subcommands: [ExplainCommand.self, RoutesCommand.self]
    )
}
