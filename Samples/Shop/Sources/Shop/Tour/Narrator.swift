internal import ShopAPI
internal import Waybill

/// Prints messages as a story: requests, replies, and the questions between them.
struct Narrator {
    private var output = FileOutput(1)
    private let isStyled: Bool
    private var chapters = 0

    /// The maximum number of printed lines of one reply.
    private static let limit = 5

    init() { self.isStyled = self.output.isTerminal && Environment["NO_COLOR"] == nil }

    mutating func title(_ text: String) throws(FileError) { try self.write("\n\(self.bold(text))\n") }

    mutating func chapter(_ title: String, _ text: String) throws(FileError) {
        self.chapters += 1
        try self.write("\n\(self.bold("\(self.chapters). \(title)"))\n\(text)\n\n")
    }

    mutating func sent(_ url: String) throws(FileError) { try self.write("  -> \(self.bold(url))\n") }

    mutating func replied(_ value: any Sendable) throws(FileError) {
        let lines = ReplyPrinter.text(of: value).split(separator: "\n")
        for line in lines.prefix(Self.limit) { try self.write("  <- \(line)\n") }
        if lines.count > Self.limit { try self.write("     and \(lines.count - Self.limit) more\n") }
    }

    mutating func asked(_ request: PaymentRequest, answered answer: PaymentAnswer) throws(FileError) {
        try self.write("  <? \(request)\n  -> \(answer.rawValue)\n")
    }

    mutating func failed(_ error: RoutingError) throws(FileError) { try self.write("  <! \(error.line)\n") }

    private func bold(_ text: String) -> String { self.isStyled ? "\u{1b}[1m\(text)\u{1b}[0m" : text }

    private mutating func write(_ text: String) throws(FileError) {
        self.output.bytes.append(contentsOf: text.utf8)
        try self.output.flush()
    }
}
