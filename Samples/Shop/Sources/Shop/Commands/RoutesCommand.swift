internal import ArgumentParser
internal import Waybill

/// `shop routes`: what the modules have registered.
struct RoutesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "routes",
        abstract: "Show the table of routes: patterns, parameters, and where they are registered."
    )

    @Option(help: "How routes are printed: json or text.")
    var format: ReplyFormat = .text

    func run() async throws {
        let shop = try Storefront()
        print(shop.bus.routes.count)
    }
}
