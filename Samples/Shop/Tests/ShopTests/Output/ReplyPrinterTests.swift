import ShopAPI
import Testing

@testable import Shop

@Suite
struct ReplyPrinterTests {
    private func print(_ value: any Sendable, _ format: ReplyFormat) throws -> String {
        var bytes: [UInt8] = []
        try ReplyPrinter(format: format).print(value, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `a reply is printed as one line of JSON, whatever its value is`() throws {
        #expect(try self.print((), .json) == "null\n")
        #expect(try self.print(3, .json) == "3\n")
        #expect(try self.print(3...4, .json) == "[3,4]\n")
        #expect(try self.print(ContinuousClock(), .json) == "\"ContinuousClock()\"\n")
        #expect(try self.print([Money.zero], .json) == "[0]\n")
    }

    @Test func `a reply is printed as readable text, without control characters`() throws {
        #expect(try self.print((), .text) == "done\n")
        #expect(try self.print([String](), .text) == "nothing\n")
        #expect(try self.print([Money.zero, Money(cents: 101)], .text) == "0.00\n1.01\n")
        #expect(try self.print(ActivityEntry(number: 1, text: "\u{1b}c"), .text) == "1. \\u{1B}c\n")
    }
}
