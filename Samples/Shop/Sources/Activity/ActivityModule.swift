internal import ShopAPI
package import Waybill

/// The latest thousand events of the shop.
///
/// No other module waits for this module. The other modules `send` their entries, and payments deliver their
/// receipts through a return URL.
@Module("app://activity")
package actor ActivityModule {
    private var entries = ActivityLog()

    package init() {}

    /// Adds an entry to the log.
    @Route func log(text: String) { self.entries.append(text) }

    /// Adds a receipt, which arrives through a return URL, to the log.
    @Route func receipt(_ message: Message) throws {
        guard let receipt = try? message.payload(as: Receipt.self) else {
            throw RoutingError.refused(
                "receipts come here on a return URL: app://payments/pay?order=1#activity/receipt"
            )
        }
        let request = message.correlationID.map { ", which answers message \($0)" } ?? ""
        self.entries.append("\(receipt)\(request)")
    }

    /// Returns the newest entries, oldest first.
    @Route func recent(limit: Int = 10) -> [ActivityEntry] { self.entries.recent(limit) }
}
