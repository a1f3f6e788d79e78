internal import ShopAPI
internal import Waybill

/// A page of the shop: what a URL of the scheme `screen` leads to.
protocol Page: Sendable {
    /// What it says now; asked each time that it comes to the front.
    func content(for visit: Visit) async throws -> PageContent
}

/// What a page says.
struct PageContent: Equatable, Sendable {
    var title: String
    var lines: [String] = []
    var links: [PageLink] = []
}

/// Something to follow: another page, or something that the shop does.
struct PageLink: Equatable, Sendable {
    let title: String
    let url: String

    init(_ title: String, _ url: String) {
        self.title = title
        self.url = url
    }
}

/// What pages ask the shop with: its bus, and the customer's session.
struct Visit: Sendable {
    let bus: MessageBus
    var session: [String: any Sendable] = [:]

    var isSignedIn: Bool { !self.session.isEmpty }

    func ask<Value: Sendable>(_ url: String, as: Value.Type = Value.self) async throws -> Value {
        try await self.bus.route(url, parameters: self.session)
    }
}
