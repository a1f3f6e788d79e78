import Foundation
import Glibc
import Testing

/// `shop browse` in a pseudo-terminal, as a person uses it, and in a pipe.
@Suite(.serialized)
struct BrowseTests {
    private static let enter = "\r"
    private static let down = "\u{1b}[B"
    private static let back = "\u{7f}"

    private func browse(_ urls: String...) throws -> ShopTerminal {
        let shop =
            switch urls.count {
            case 0: try ShopTerminal("browse", columns: 80)
            default: try ShopTerminal("browse", urls[0], columns: 80)
            }
        try self.wait(shop, for: urls.isEmpty ? "screen://home" : urls[0])
        return shop
    }

    /// Waits until the last row is a URL.
    private func wait(_ shop: ShopTerminal, for url: String) throws {
        try shop.wait(for: "the page \(url)") { screen in
            screen.isWhole && screen.lines.count == 24 && screen.lines[23] == " \(url)"
        }
    }

    private func wait(_ shop: ShopTerminal, showing text: String) throws {
        try shop.wait(for: "\"\(text)\"") { screen in screen.lines.contains { $0.contains(text) } }
    }

    /// Opens the URL bar and types a URL.
    private func open(_ url: String, in shop: ShopTerminal) throws {
        try shop.type("g")
        try shop.wait(for: "the URL bar") { $0.hasCursor && $0.lines.last == "URL:" }
        try shop.type(url + Self.enter)
    }

    @Test func `the shop browser opens a chosen link, and Backspace goes back`() throws {
        let shop = try self.browse()
        #expect(shop.screen.lines[0] == " Shop")
        #expect(!shop.screen.hasCursor)
        try self.wait(shop, showing: " > ")
        while !shop.screen.lines.contains(where: { $0.hasPrefix(" > kitchen") }) {
            let before = shop.screen.lines
            try shop.type(Self.down)
            try shop.wait(for: "another link") { $0.lines != before }
        }
        try shop.type(Self.enter)
        try self.wait(shop, for: "screen://category/kitchen")
        #expect(shop.screen.lines[0] == " Shop › kitchen")
        try shop.type(Self.enter)
        try self.wait(shop, for: "screen://product/copper-kettle")
        #expect(shop.screen.lines[2] == " Price: 54.90")
        try shop.type(Self.back)
        try self.wait(shop, for: "screen://category/kitchen")
        try shop.type("h")
        try self.wait(shop, for: "screen://home")
        try shop.type(Self.back)
        try self.wait(shop, showing: "cannot go back by 1: 0 destinations are below")
        try shop.type("q")
        #expect(try shop.waitForEnd() == 0)
        #expect(!shop.screen.isWhole && shop.screen.hasCursor && shop.isCooked)
    }

    @Test func `Escape closes the URL bar and takes no following key with it`() throws {
        let shop = try self.browse()
        for close in ["\u{1b}", "x\u{1b}", Self.back, "x\(Self.back)\(Self.back)"] {
            try shop.type("g")
            try shop.wait(for: "the URL bar") { $0.hasCursor && $0.lines.last == "URL:" }
            try shop.type(close)
            try self.wait(shop, for: "screen://home")
            try shop.wait(for: "no cursor") { !$0.hasCursor }
        }
        try shop.type("q")
        #expect(try shop.waitForEnd() == 0)
    }

    @Test func `the shop browser counts a wide character as two columns`() throws {
        let shop = try self.browse("screen://product/nakiri-17-cm")
        #expect(shop.screen.lines[0] == " Shop › Nakiri 菜切包丁 17 cm")
        #expect(shop.screen.lines.count == 24)
        // The row of the address begins in the first column, so no row above it was too wide.
        #expect(shop.screen.lines[22].hasPrefix(" arrows choose"))
    }

    @Test func `an order is paid on a sheet in front of its page`() throws {
        let shop = try self.browse()
        try self.open("sign-in", in: shop)
        try self.wait(shop, for: "screen://sign-in")
        try self.open("app://accounts/sign-in?name=Lili", in: shop)
        try self.wait(shop, showing: "signed in as Lili")
        try self.wait(shop, for: "screen://home")
        try self.open("app://cart/add?product=copper-kettle", in: shop)
        try self.wait(shop, showing: "1 x Copper Kettle")
        try self.open("app://orders/place", in: shop)
        try self.wait(shop, for: "screen://order/1")
        // The first link opens the payment. The customer first cancels it and then confirms it.
        try shop.type(Self.enter)
        try self.wait(shop, for: "screen://payment")
        try self.wait(shop, showing: "┌─ Payment ─")
        try self.wait(shop, showing: "Pay 54.90 for order 1?")
        try shop.type(Self.back)
        try self.wait(shop, showing: "the customer cancelled the payment of order 1")
        try self.wait(shop, for: "screen://order/1")
        try shop.type(Self.enter)
        try self.wait(shop, for: "screen://payment")
        try shop.type(Self.enter)
        try self.wait(shop, showing: "receipt 1 for order 1: 54.90")
        try self.wait(shop, showing: "order 1 of Lili, paid, 54.90")
        #expect(!shop.screen.lines.contains { $0.contains("┌") })
        try shop.type("q")
        #expect(try shop.waitForEnd() == 0)
    }

    @Test func `the shop browser redraws the page when the terminal is resized`() throws {
        let shop = try self.browse()
        try shop.resize(columns: 40)
        try shop.wait(for: "rows of 40 columns") { $0.lines.contains(String(repeating: "─", count: 40)) }
        #expect(shop.screen.lines.count == 24)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGABRT, SIGSEGV, SIGILL])
    func `a signal or a crash restores the terminal's mode`(signal: Int32) throws {
        let shop = try self.browse()
        #expect(!shop.isCooked)
        shop.signal(signal)
        #expect(try shop.waitForEnd() == nil)
        #expect(!shop.screen.isWhole && shop.screen.hasCursor && shop.isCooked)
    }

    @Test func `Ctrl-C ends the shop browser with the status of an interrupt`() throws {
        let shop = try self.browse()
        try shop.type(ShopTerminal.control("c"))
        #expect(try shop.waitForEnd() == 130)
        #expect(!shop.screen.isWhole && shop.screen.hasCursor && shop.isCooked)
    }

    @Test func `the shop browser prints pages as plain text into a pipe`() throws {
        let shop = try ShopProcess(
            "browse",
            "screen://product/nakiri-17-cm",
            "screen://back",
            "screen://nowhere"
        )
        #expect(shop.status == 1)
        #expect(!shop.output.contains("\u{1b}"))
        #expect(
            shop.lines.dropLast() == [
                "# Nakiri 菜切包丁 17 cm <screen://product/nakiri-17-cm>", "  Price: 119.00", "  Stock: 3 left",
                "  - Put into the cart <app://cart/add?product=nakiri-17-cm>",
                "  - Cart <screen://push/cart>",
                "! refused screen://back: cannot go back by 1: 0 destinations are below",
            ]
        )
        #expect(shop.lines.last?.hasPrefix("! noRoute screen://nowhere: no pattern matches") == true)
        let lines = Data("# a comment\nscreen://root/home\n\nscreen://cart\n".utf8)
        let read = try ShopProcess("browse", input: lines)
        #expect(read.status == 0)
        #expect(read.lines.first == "# Shop <screen://home>")
        #expect(read.output.contains("# Cart <screen://cart>\n  Sign in first.\n"))
    }
}
