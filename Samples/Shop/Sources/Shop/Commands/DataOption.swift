internal import ArgumentParser
internal import WaybillDurable

/// The option `--data FILE` of the commands whose shop may keep its orders.
struct DataOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file that keeps the orders and receipts. Paid orders are shipped, each exactly once.",
            valueName: "file"
        )
    )
    var data: String?

    /// Opens the file; returns nil if the command has no such option.
    func openFile() async throws -> ShopFile? {
        guard let data else { return nil }
        do {
            return try await ShopFile(data)
        } catch let error as DurableError {
            throw ValidationError(error.message)
        }
    }
}
