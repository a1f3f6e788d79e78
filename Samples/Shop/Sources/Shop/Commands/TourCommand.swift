internal import ArgumentParser

/// `shop tour`: the story of one customer.
struct TourCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tour",
        abstract: "Walk through the shop: sign in, browse, order, pay, change your mind."
    )

    func run() async throws {}
}
