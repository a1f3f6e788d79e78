internal import ArgumentParser
internal import Waybill
internal import WaybillCommands

/// The shop at the command line.
///
/// Continue with `ShopModule.swift`, which installs the modules on a bus. Then read `Sources/Orders`, which
/// calls three modules by their URLs, and `Tour/Tour.swift`, which shows the calls of one customer.
@main
struct ShopCommand: AsyncParsableCommand, RouteProviding {
    static let configuration = CommandConfiguration(
        commandName: "shop",
        abstract: "A shop of modules that know only each other's URLs.",
        usage: """
            shop [--format json|text] URL...
            shop [--format json|text] < urls.txt
            shop browse [URL...]
            shop routes
            shop serve --socket PATH
            shop ship ORDER --data FILE
            shop tour
            """,
        discussion: """
            The command routes each URL and prints its reply. Without URLs, it reads them from standard input, one on \
            each line, or opens a prompt with history, Tab completion and help on a terminal. After a customer has \
            signed in, later URLs without a session belong to that customer.

            EXAMPLES:
              shop app://catalog/categories
              shop --format text "app://catalog/search?text=tea"
              shop "app://accounts/sign-in?name=Ada" app://cart/show
              shop < urls.txt
            """,
        subcommands: [
            BrowseCommand.self, DeliverCommand.self, RoutesCommand<ShopCommand>.self, ServeCommand.self,
            ShipCommand.self, TourCommand.self,
        ] + Self.clusterCommands,
        defaultSubcommand: DeliverCommand.self
    )

    #if Cluster
    private static let clusterCommands: [any ParsableCommand.Type] = [NodeCommand.self]
    #else
    private static let clusterCommands: [any ParsableCommand.Type] = []
    #endif

    static func makeBus() async throws -> MessageBus { try await Storefront().bus }
}
