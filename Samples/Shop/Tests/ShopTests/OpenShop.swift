import ShopAPI
import Waybill

@testable import Shop

/// A separate shop for each test, with a customer.
struct OpenShop {
    let bus: MessageBus
    let session: SessionToken

    init() async throws {
        self.bus = try await Storefront().bus
        let session: Session = try await self.bus.route("app://accounts/sign-in?name=Lili")
        self.session = session.token
    }

    /// Routes a URL for the customer.
    @discardableResult
    func ask<Value: Sendable>(_ url: String, as: Value.Type = Value.self) async throws -> Value {
        try await self.bus.route(url, parameters: ["session": self.session])
    }

    /// Returns the error of the module that could not handle a URL.
    func complaint(about url: String) async throws -> ShopError? {
        do {
            try await self.bus.route(url, parameters: ["session": self.session])
            return nil
        } catch {
            return ShopError(causeOf: error)
        }
    }

    /// Puts a kettle into the cart and orders it.
    func orderKettle() async throws -> Order {
        try await self.ask("app://cart/add?product=copper-kettle", as: CartContents.self)
        return try await self.ask("app://orders/place")
    }
}
