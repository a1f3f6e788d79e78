internal import ShopAPI
internal import Waybill
internal import WaybillNavigation

/// Opens URLs.
///
/// A URL of the scheme `screen` changes the screen. Any other URL is delivered to the shop, and its reply is
/// shown on one line.
@MainActor
final class Browser {
    private let navigator: Navigator
    private let presenter: PagePresenter
    private var bus: MessageBus { self.presenter.visit.bus }

    /// Asks the customer to confirm a payment, or nil if there is no customer.
    var asker: ((PaymentRequest) async -> PaymentAnswer)?

    /// The latest message for the customer.
    private(set) var message = ""

    /// Whether the latest message reports a failure.
    var hasFailed: Bool { self.failure != nil }

    /// The failure that the latest message reports, with its code and URL.
    private var failure: String?

    static let home = "screen://root/home"

    init(bus: MessageBus) throws {
        self.presenter = PagePresenter(visit: Visit(bus: bus))
        self.navigator = try Navigator(bus: bus, presenter: self.presenter, schemes: ["screen"])
        try self.navigator.register("screen://home", HomePage.self)
        try self.navigator.register("screen://category/:name", CategoryPage.self)
        try self.navigator.register("screen://search", SearchPage.self)
        try self.navigator.register("screen://product/:id", ProductPage.self)
        try self.navigator.register("screen://cart", CartPage.self)
        try self.navigator.register("screen://orders", OrdersPage.self)
        try self.navigator.register("screen://order/:id", OrderPage.self)
        try self.navigator.register("screen://sign-in", SignInPage.self)
        try self.navigator.register("screen://payment", PaymentPage.self)
    }

    /// The shown layers, front last.
    var layers: [ScreenView.Layer] { self.presenter.layers }

    /// Moves the choice among the links of the front page.
    func choose(by distance: Int) { self.presenter.choose(by: distance) }

    /// Follows the chosen link.
    func followChosen() async {
        guard let link = self.presenter.chosenLink else { return }
        if link == PaymentPage.confirm { self.answer = .confirm }
        await self.follow(link.url)
    }

    /// Follows a URL, and sets the message about the result.
    func follow(_ url: String) async {
        (self.message, self.failure) = ("", nil)
        do {
            if url.hasPrefix("screen:") {
                try await self.bus.route(url)
            } else {
                try await self.act(url)
            }
        } catch let error as RoutingError {
            (self.message, self.failure) = (error.shortLine, error.line)
        } catch {
            (self.message, self.failure) = ("\(error)", "\(error)")
        }
    }

    /// Delivers a URL to the shop, and updates the screen.
    private func act(_ url: String) async throws {
        let session = url.namesSession ? [:] : self.presenter.visit.session
        let asker = self.asker
        let reply: Reply
        if let asker {
            reply = try await self.bus.route(url, parameters: session) { (request: PaymentRequest) in
                await asker(request)
            }
        } else {
            reply = try await self.bus.route(url, parameters: session)
        }
        self.message = "\(reply.value)".split(separator: "\n").first.map(String.init) ?? ""
        switch reply.value {
        case let session as Session:
            self.presenter.visit.session = ["session": session.token]
            self.message = "signed in as \(session.user)"
            if self.layers.last?.url == "screen://sign-in" { try await self.bus.route("screen://back") }
        case let user as User where url.hasPrefix("app://accounts/sign-out"):
            self.presenter.visit.session = [:]
            self.message = "\(user.name) has signed out"
        case let order as Order where url.hasPrefix("app://orders/place"):
            try await self.bus.route("screen://push/order/\(order.id)")
        default: break
        }
        try await self.presenter.reload()
    }

    /// The choice of the customer on the sheet before a payment.
    private var answer = PaymentAnswer.cancel

    /// Presents the question before a payment, and passes keys to the sheet until it is gone.
    ///
    /// - Parameters:
    ///   - request: The question.
    ///   - takeKey: Takes one key. False means that there are no more keys.
    /// - Returns: The answer, which is a rejection unless the customer confirms.
    /// - Throws: The error of the sheet or of the keyboard.
    func ask(_ request: PaymentRequest, takeKey: () async throws -> Bool) async throws -> PaymentAnswer {
        self.answer = .cancel
        try await self.bus.route("screen://present/payment", parameters: ["question": "\(request)"])
        while self.layers.last?.url == "screen://payment" {
            guard try await takeKey() else { return .cancel }
        }
        return self.answer
    }

    /// The screen as plain text.
    var text: String {
        var lines = self.message.isEmpty ? [] : ["* \(self.message)"]
        if let failure { lines = ["! \(failure)"] }
        if failure == nil, let layer = self.layers.last {
            lines.append("# \(layer.content.title) <\(layer.url)>")
            lines += layer.content.lines.map { "  \($0)" }
            lines += layer.content.links.map { "  - \($0.title) <\($0.url)>" }
        }
        return lines.map { SafeText.line($0, limit: 400) + "\n" }.joined() + "\n"
    }
}
