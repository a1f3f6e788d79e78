internal import ShopAPI
package import Waybill
package import WaybillEventLoop

/// What happened in the shop, the last thousand things of it.
///
/// Nobody waits for it: the others `send` what they have to say, and payments bring their receipts on a
/// return URL.
package actor ActivityModule: LoopBound {
    package nonisolated let eventLoop: EventLoop
    private let bus: MessageBus
    private var log = ActivityLog()

    package init(bus: MessageBus) {
        self.bus = bus
        self.eventLoop = bus.eventLoop
    }

    /// Registers what the module handles: all of `app://activity`.
    package nonisolated func register() throws(RoutingError) {
        try self.bus.register("app://activity/log", on: self) { activity, message in
            activity.log.append(try message.parameters.require("text"))
        }
        try self.bus.register("app://activity/receipt", on: self) { activity, message in
            let receipt = try message.payload(as: Receipt.self)
            let request = message.correlationID.map { ", which answers message \($0)" } ?? ""
            activity.log.append("\(receipt)\(request)")
        }
        try self.bus.register("app://activity/recent", on: self) { activity, message in
            activity.log.recent(try message.parameters.value("limit") ?? 10)
        }
    }
}
