internal import ArgumentParser
internal import Waybill

/// `shop routes`: what the modules have registered.
struct RoutesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "routes",
        abstract: "Show the table of routes: patterns, parameters, and where they are registered."
    )

    @Option(help: "How routes are printed: a table, or one line of JSON each.")
    var format: ReplyFormat = .text

    func run() async throws {
        let routes = try Storefront().bus.routes
        var output = FileOutput(1)
        switch self.format {
        case .text: output.bytes.append(contentsOf: "\(RouteReport.table(routes))\n".utf8)
        case .json:
            let writer = JSONWriter()
            for route in routes {
                try writer.write(document: RouteReport(route))
                output.bytes.append(contentsOf: writer.text.bytes + [UInt8(ascii: "\n")])
            }
        }
        try output.flush()
    }
}
