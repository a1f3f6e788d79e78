internal import Foundation
internal import ShopAPI
internal import Waybill

/// The calls of one customer, printed while they happen.
///
/// Any program can make these calls. The types are in `ShopAPI`, the addresses are URLs, and no module is
/// imported.
struct Tour {
    let bus: MessageBus
    private var narrator = Narrator()

    init(bus: MessageBus) { self.bus = bus }

    mutating func run() async throws {
        try self.narrator.title("One customer in a shop whose modules know only each other's URLs")
        let session = try await self.signIn()
        try await self.browse()
        try await self.fillTheCart(session)
        try await self.mistype()
        let order = try await self.order(session)
        try await self.payAndCancel(order, session)
        try await self.pay(order, session)
        try await self.lookBack()
        try self.ship(order)
        try await self.close()
    }
}

extension Tour {
    private mutating func signIn() async throws -> SessionToken {
        try self.narrator.chapter("Sign in", "Lili gives her name. The accounts module starts a session.")
        let url = "app://accounts/sign-in?name=Lili"
        try self.narrator.sent(url)
        let session: Session = try await self.bus.route(url)
        try self.narrator.replied(session)
        return session.token
    }

    private mutating func browse() async throws {
        try self.narrator.chapter("Browse", "She lists the categories, and then searches for tea.")
        let shelves: [ProductCategory] = try await self.ask("app://catalog/categories")
        let found: [Product] = try await self.ask("app://catalog/search?text=tea&limit=4")
        guard !shelves.isEmpty, !found.isEmpty else { throw ShopError.unknownProduct("tea") }
    }

    private mutating func fillTheCart(_ session: SessionToken) async throws {
        try self.narrator.chapter(
            "Fill the cart",
            """
            The session is passed with the call and is not in the URL. The cart module asks the accounts module for the
            customer and the catalogue module for the price. Without waiting, it sends a line to the activity module.
            """
        )
        let _: CartContents = try await self.ask("app://cart/add?product=copper-kettle", session)
        let _: CartContents = try await self.ask("app://cart/add?product=sencha-100-g&quantity=2", session)
    }

    private mutating func mistype() async throws {
        try self.narrator.chapter("Mistype", "No pattern matches this URL. The error suggests another.")
        try await self.fail(.noRoute) { (tour) async throws in
            let _: CartContents = try await tour.ask("app://cart/shwo")
        }
    }

    private mutating func order(_ session: SessionToken) async throws -> Order {
        try self.narrator.chapter(
            "Order",
            "The orders module empties the cart, and the catalogue module reduces the stock."
        )
        return try await self.ask("app://orders/place", session)
    }

    private mutating func payAndCancel(_ order: Order, _ session: SessionToken) async throws {
        try self.narrator.chapter(
            "Cancel a payment",
            "The payments module asks for confirmation: it sends a progress reply, which the caller answers."
        )
        try await self.fail(.handlerFailed) { (tour) async throws in
            _ = try await tour.pay("app://payments/pay?order=\(order.id)", session, answer: .cancel)
        }
    }

    private mutating func pay(_ order: Order, _ session: SessionToken) async throws {
        try self.narrator.chapter(
            "Pay",
            "Now she confirms. The fragment of the URL is a return URL: the bus also sends the receipt there."
        )
        _ = try await self.pay(
            "app://payments/pay?order=\(order.id)#activity/receipt",
            session,
            answer: .confirm
        )
    }

    private mutating func lookBack() async throws {
        try self.narrator.chapter(
            "Look back",
            "The activity module has logged each event, and the receipt with the number of the message it answers."
        )
        let _: [ActivityEntry] = try await self.ask("app://activity/recent?limit=5")
    }

    private mutating func ship(_ order: Order) throws {
        try self.narrator.chapter(
            "Ship, whatever happens",
            """
            The request to ship is a durable message in a file. The first process is killed while it handles the message.
            The second process handles the message again, and the parcel is sent once.
            """
        )
        let folder = FileManager.default.temporaryDirectory.appending(path: "shop-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "shop.db").path
        let wasKilled = try self.run(["ship", String(order.id), "--data", file, "--kill"], shownAs: file)
        try self.narrator.replied(wasKilled ? "the process was killed" : "the process was not killed")
        _ = try self.run(["ship", String(order.id), "--data", file], shownAs: file)
    }

    /// Runs this program in another process, and shows its output.
    ///
    /// - Returns: Whether a signal ended the process.
    private mutating func run(_ arguments: [String], shownAs file: String) throws -> Bool {
        let shown = arguments.map { $0 == file ? "shop.db" : $0 }.joined(separator: " ")
        try self.narrator.sent("shop \(shown)")
        let process = Process()
        let output = Pipe()
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            try self.narrator.replied(String(line))
        }
        return process.terminationReason == .uncaughtSignal
    }

    private mutating func close() async throws {
        try self.narrator.chapter(
            "Close",
            """
            Each message on this bus had exactly one outcome. The failed message is the payment that the customer cancelled.
            The dead letter is the mistyped URL, which reached no handler.
            """
        )
        await self.bus.shutDown(drainingUntil: .now + .seconds(2))
        let books = self.bus.statistics
        try self.narrator.replied(
            "sent: \(books.sent), replied: \(books.replied), failed: \(books.failed), dead letters: \(books.deadLettered)"
        )
    }
}

extension Tour {
    /// Routes a URL, and prints the request and the reply.
    private mutating func ask<Value: Sendable>(
        _ url: String,
        _ session: SessionToken? = nil
    ) async throws -> Value {
        try self.narrator.sent(url)
        let parameters: [String: any Sendable] = session.map { ["session": $0] } ?? [:]
        let value: Value = try await self.bus.route(url, parameters: parameters)
        try self.narrator.replied(value)
        return value
    }

    /// Routes the URL of a payment, and answers the question of the payments module.
    private mutating func pay(
        _ url: String,
        _ session: SessionToken,
        answer: PaymentAnswer
    ) async throws -> Receipt {
        try self.narrator.sent(url)
        let receipt: Receipt = try await self.bus.route(url, parameters: ["session": session]) {
            (request: PaymentRequest) in
            try self.narrator.asked(request, answered: answer)
            return answer
        }
        try self.narrator.replied(receipt)
        return receipt
    }

    /// Runs a call that must fail, and prints its failure.
    private mutating func fail(
        _ code: RoutingError.Code,
        _ body: (inout Tour) async throws -> Void
    ) async throws {
        do {
            try await body(&self)
        } catch let error as RoutingError where error.code == code {
            try self.narrator.failed(error)
        }
    }
}
