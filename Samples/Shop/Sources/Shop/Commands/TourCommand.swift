internal import ArgumentParser

/// `shop tour`: the story of one customer.
struct TourCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tour",
        abstract: "Walk through the shop: sign in, browse, order, pay, change your mind."
    )

    func run() async throws {
        do {
            var tour = Tour(bus: try await Storefront().bus)
            try await tour.run()
        } catch let error as FileError where error.isBrokenPipe {
            throw ExitCode.failure
        }
    }
}
