import Foundation
import Testing

/// The prompt in a pseudo-terminal, as a person uses it.
@Suite(.serialized)
struct PromptTests {
    private let control = ShopTerminal.control

    /// A shop in which a customer has signed in and ordered a kettle.
    private func orderKettle() throws -> ShopTerminal {
        let shop = try ShopTerminal()
        _ = try shop.enter("app://accounts/sign-in?name=Lili")
        _ = try shop.enter("app://cart/add?product=copper-kettle")
        let order = try shop.enter("app://orders/place")
        try #require(order.first == "order 1 of Lili, placed, 54.90", "\(order)")
        return shop
    }

    @Test func `a customer stays signed in at the prompt until signing out`() throws {
        let shop = try ShopTerminal()
        let session = try shop.enter("app://accounts/sign-in?name=Lili")
        #expect(session.count == 1 && session[0].hasPrefix("Lili (customer 1), session="), "\(session)")
        #expect(try shop.enter("app://cart/show") == ["an empty cart"])
        #expect(try shop.enter("app://accounts/sign-out").count == 1)
        #expect(try shop.enter("/cart/show").first?.contains("sign in first") == true)
    }

    @Test func `Tab completes the prompt's line as far as possible, then lists the candidates`() throws {
        let shop = try ShopTerminal()
        try shop.type("app://cart/sh\t")
        try shop.waitForLine("shop> app://cart/show")
        #expect(shop.screen.cursor.column == 21)
        try shop.type("\(self.control("u"))/catalog/cat\t")
        try shop.waitForLine("shop> /catalog/categor")
        let row = shop.screen.cursor.row
        try shop.type("\t")
        try shop.wait(for: "the list") { $0.cursor.row > row && $0.line == "shop> /catalog/categor" }
        let list = shop.screen.lines[(row + 1)..<shop.screen.cursor.row]
        #expect(list.contains("/catalog/categories") && list.contains("/catalog/category/"))
        try shop.type("ies")
        #expect(try shop.enter("").first?.isEmpty == false)
    }

    @Test func `a URL without a scheme is completed, and a mistyped command gets a suggestion`() throws {
        let shop = try ShopTerminal()
        try shop.type("catalog/se\t")
        try shop.waitForLine("shop> catalog/search")
        try shop.type(self.control("u"))
        #expect(try shop.enter("routs") == ["there is no command routs; did you mean routes?"])
        #expect(try shop.enter("/cart/shwo").first?.contains("did you mean") == true)
    }

    @Test(arguments: [
        ("y", "receipt 1 for order 1: 54.90", "paid"), ("Yes", "receipt 1 for order 1: 54.90", "paid"),
        ("n", "cancelled the payment of order 1", "placed"),
        ("", "cancelled the payment of order 1", "placed"),
        ("later", "cancelled the payment of order 1", "placed"),
    ])
    func `the prompt asks the customer to confirm a payment`(
        answer: String,
        outcome: String,
        status: String
    ) throws {
        let shop = try self.orderKettle()
        try shop.type("app://payments/pay?order=1\r")
        try shop.waitForLine("Pay 54.90 for order 1? [y/N]")
        let reply = try shop.enter(answer)
        #expect(reply.count == 1 && reply[0].contains(outcome), "\(reply)")
        #expect(try shop.enter("app://orders/detail/1").first == "order 1 of Lili, \(status), 54.90")
    }

    @Test func `an answer typed ahead of the question is used`() throws {
        let shop = try self.orderKettle()
        let reply = try shop.enter("app://payments/pay?order=1\ry")
        #expect(reply.last == "receipt 1 for order 1: 54.90")
    }

    @Test(arguments: ["c", "d"] as [Character])
    func `Ctrl-C or Ctrl-D at the question cancels the payment, and the shop stays open`(
        letter: Character
    ) throws {
        let shop = try self.orderKettle()
        try shop.type("app://payments/pay?order=1\r")
        try shop.waitForLine("Pay 54.90 for order 1? [y/N]")
        let row = shop.screen.cursor.row
        try shop.type(self.control(letter))
        try shop.waitForPrompt(below: row)
        #expect(shop.screen.lines[row + 1].contains("cancelled the payment"))
        #expect(try shop.enter("app://orders/detail/1").first == "order 1 of Lili, placed, 54.90")
    }

    @Test func `Ctrl-C discards the line, and the shop stays open`() throws {
        let shop = try ShopTerminal()
        try shop.type("app://cart/sh")
        try shop.waitForLine("shop> app://cart/sh")
        let row = shop.screen.cursor.row
        try shop.type(self.control("c"))
        try shop.waitForPrompt(below: row)
        #expect(shop.screen.lines[row] == "shop> app://cart/sh^C")
        #expect(try shop.enter("/cart/show").first?.contains("sign in first") == true)
    }

    @Test(arguments: ["quit\r", "exit\r", "\u{4}"])
    func `leaving the shop restores the terminal's mode`(keys: String) throws {
        let shop = try ShopTerminal()
        #expect(!shop.isCooked)
        try shop.type(keys)
        #expect(try shop.waitForEnd() == 0)
        #expect(shop.isCooked)
        #expect(shop.screen.line.isEmpty && shop.screen.cursor.column == 0)
    }

    @Test func `Ctrl-D in a line deletes a character, and the shop stays open`() throws {
        let shop = try ShopTerminal()
        try shop.type("/cart/showw\u{1b}[D\(self.control("d"))")
        try shop.waitForLine("shop> /cart/show")
        #expect(try shop.enter("").first?.contains("sign in first") == true)
    }

    @Test func `the prompt's line fits the window before and after a resize`() throws {
        let shop = try ShopTerminal(columns: 60)
        let text = "app://catalog/search?text=" + (0..<10).map { "\($0)tea" }.joined()
        try shop.type(text)
        try shop.wait(for: "the end of the line") { $0.line.hasSuffix("9tea") && $0.cursor.column == 59 }
        #expect(shop.screen.line == "shop> \(text.suffix(53))")
        // No key is pressed, so only the signal can have redrawn the line.
        try shop.resize(columns: 30)
        try shop.waitForLine("shop> \(text.suffix(23))")
        try shop.resize(columns: 100)
        try shop.waitForLine("shop> \(text)")
        #expect(try shop.enter("") == ["nothing"])
    }

    @Test func `the history of the prompt is kept for the next run`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try ShopTerminal(folder: folder)
        _ = try first.enter("/catalog/product?id=copper-kettle")
        try first.type(self.control("d"))
        #expect(try first.waitForEnd() == 0)
        let second = try ShopTerminal(folder: folder)
        try second.type("\u{1b}[A")
        try second.waitForLine("shop> /catalog/product?id=copper-kettle")
        #expect(try second.enter("").first?.contains("Copper Kettle") == true)
    }

    @Test func `an error is printed as one line at the prompt`() throws {
        let shop = try ShopTerminal()
        let complaint = try shop.enter("app://cart/shw")
        #expect(
            complaint.count == 1 && complaint[0].hasPrefix("shop: noRoute app://cart/shw"),
            "\(complaint)"
        )
    }
}
