internal import ShopAPI
internal import Waybill

/// A page of the shop, for a URL of the scheme `screen`.
protocol Page: Sendable {
    /// Returns the content of the page. The browser calls it each time that the page comes to the front.
    func content(for visit: Visit) async throws -> PageContent
}

struct PageContent: Equatable, Sendable {
    var title: String
    var lines: [String] = []
    var links: [PageLink] = []
}

/// A link to another page, or to an action of the shop.
struct PageLink: Equatable, Sendable {
    let title: String
    let url: String

    init(_ title: String, _ url: String) {
        self.title = title
        self.url = url
    }
}

/// The bus and the customer's session, with which pages call the shop.
struct Visit: Sendable {
    let bus: MessageBus
    var session: [String: any Sendable] = [:]

    var isSignedIn: Bool { !self.session.isEmpty }

    func ask<Value: Sendable>(_ url: String, as: Value.Type = Value.self) async throws -> Value {
        try await self.bus.route(url, parameters: self.session)
    }
}
