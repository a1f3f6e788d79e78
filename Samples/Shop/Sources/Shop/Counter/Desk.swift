/// The output of the clerk: replies on standard output, errors on standard error.
struct Desk {
    var printer: ReplyPrinter
    private var output = FileOutput(1)
    private var errors = FileOutput(2)

    init(format: ReplyFormat) { self.printer = ReplyPrinter(format: format) }

    /// Prints the value of a reply.
    mutating func put(_ value: any Sendable) throws {
        try self.printer.print(value, to: &self.output.bytes)
        try self.output.flushIfNeeded()
    }

    /// Prints an error on one line, after all earlier replies.
    mutating func complain(_ line: String) throws(FileError) {
        try self.output.flush()
        self.errors.bytes.append(contentsOf: "shop: \(line)\n".utf8)
        try self.errors.flush()
    }

    /// Prints the buffered output.
    mutating func flush() throws(FileError) { try self.output.flush() }
}
