internal import ShopAPI
package import Waybill

/// The latest thousand events of the shop.
///
/// No module waits for this module. The others `send` their entries, and payments deliver their receipts
/// through a return URL.
@Module("app://activity")
package actor ActivityModule {
    private var entries = ActivityLog()

    package init() {}

    /// Writes an entry down.
    @Route func log(text: String) { self.entries.append(text) }

    /// Writes down a receipt that came on a return URL.
    @Route func receipt(_ message: Message) throws {
        guard let receipt = try? message.payload(as: Receipt.self) else {
            throw RoutingError.refused(
                "receipts come here on a return URL: app://payments/pay?order=1#activity/receipt"
            )
        }
        let request = message.correlationID.map { ", which answers message \($0)" } ?? ""
        self.entries.append("\(receipt)\(request)")
    }

    /// The newest entries, oldest first.
    @Route func recent(limit: Int = 10) -> [ActivityEntry] { self.entries.recent(limit) }
}
