#if Tool
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
#else
/// What is left of the command line without the trait `Tool`, which brings the package that reads its arguments.
@main
struct WaybillTool {
    static func main() { print("waybill: built without the trait Tool") }
}
#endif
