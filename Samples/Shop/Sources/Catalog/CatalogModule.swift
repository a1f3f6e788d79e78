internal import ShopAPI
package import Waybill
package import WaybillEventLoop

/// What the shop sells, and how much of it is left.
package actor CatalogModule: LoopBound {
    package nonisolated let eventLoop: EventLoop
    private let bus: MessageBus
    private var shelves: Shelves

    /// Opens the catalogue.
    ///
    /// - Throws: an error of the decoder if the catalogue cannot be read.
    package init(bus: MessageBus) throws {
        self.bus = bus
        self.eventLoop = bus.eventLoop
        self.shelves = try Shelves(json: PackageResources.products_json)
    }

    /// Registers what the module handles: all of `app://catalog`.
    package nonisolated func register() throws(RoutingError) {
        try self.bus.register("app://catalog/categories", on: self) { catalog, _ in
            catalog.shelves.categories
        }
        try self.bus.register("app://catalog/category/:name", on: self) { catalog, message in
            try catalog.shelves.products(in: message.parameters.require("name"))
        }
        try self.bus.register("app://catalog/product", on: self) { catalog, message in
            try catalog.shelves.product(message.parameters.require("id"))
        }
        try self.bus.register("app://catalog/search", on: self) { catalog, message in
            let limit: Int = try message.parameters.value("limit") ?? 10
            return try catalog.shelves.products(matching: message.parameters.require("text"), limit: limit)
        }
        try self.bus.register("app://catalog/reserve", on: self) { catalog, message in
            try catalog.shelves.take(Self.lines(of: message))
        }
        try self.bus.register("app://catalog/release", on: self) { catalog, message in
            try catalog.shelves.putBack(Self.lines(of: message))
        }
    }

    /// The lines that another module passed with the call, as they are: nothing is encoded between modules.
    private static func lines(of message: Message) throws(RoutingError) -> [CartLine] {
        guard let lines = message.parameters.call["lines"] as? [CartLine] else {
            let text = "the parameter `lines` is not in the URL: a module passes it with the call"
            throw RoutingError(.missingParameter, url: message.address.text, message: text)
        }
        return lines
    }
}
