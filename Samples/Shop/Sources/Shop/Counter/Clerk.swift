internal import ShopAPI
internal import Waybill
internal import WaybillEventLoop

/// Routes URLs one after the other, prints the replies, and prints each error on one line.
///
/// The clerk runs on the loop of the modules, so a URL and its reply need no change of thread. The main
/// thread passes its input to the clerk in large pieces.
actor Clerk: LoopBound {
    /// Asks the customer to confirm a payment.
    typealias Asker = @Sendable (PaymentRequest) async -> PaymentAnswer

    nonisolated let eventLoop: EventLoop
    private let bus: MessageBus
    private let asker: Asker?
    private var splitter = LineSplitter()
    private var lineNumber = 0
    private var desk: Desk

    /// The session of the customer who signed in last, for URLs without a session.
    private var customer: [String: any Sendable] = [:]

    /// The number of URLs that failed.
    private(set) var failures = 0

    init(bus: MessageBus, format: ReplyFormat, asker: Asker? = nil) {
        self.bus = bus
        self.eventLoop = bus.eventLoop
        self.asker = asker
        self.desk = Desk(format: format)
    }
}

extension Clerk {
    /// Routes URLs, and prints the replies immediately.
    func serve(_ urls: [String]) async throws {
        for url in urls { try await self.serve(url, place: "") }
        try self.desk.flush()
    }

    /// Routes the lines of a piece of a stream.
    func serve(piece: ArraySlice<UInt8>) async throws {
        self.splitter.append(piece)
        while let line = self.splitter.next() { try await self.serve(line) }
        try self.desk.flush()
    }

    /// Routes the last line of a stream, if the stream does not end with an end of line.
    func serveLastLine() async throws {
        if let line = self.splitter.finish() { try await self.serve(line) }
        try self.desk.flush()
    }

    /// Changes the format of the following replies.
    func use(_ format: ReplyFormat) { self.desk.printer.format = format }
}

extension Clerk {
    private func serve(_ line: LineSplitter.Line) async throws {
        self.lineNumber += 1
        switch line {
        case .text(let text):
            let url = text.trimmed
            guard !url.isEmpty, !url.hasPrefix("#") else { return }
            try await self.serve(url, place: "line \(self.lineNumber): ")
        case .garbled:
            try self.fail("line \(self.lineNumber): invalidURL: the line is not UTF-8")
        case .tooLong(let length):
            let limit = self.splitter.limit
            try self.fail(
                "line \(self.lineNumber): invalidURL: the line has \(length) bytes, but the limit is \(limit)"
            )
        }
    }

    private func serve(_ url: String, place: @autoclosure () -> String) async throws {
        do {
            let value = try await self.route(url)
            if let session = value as? Session { self.customer = ["session": session.token] }
            try self.desk.put(value)
        } catch let error as RoutingError {
            try self.fail(place() + error.line)
        }
    }

    private func route(_ url: String) async throws(RoutingError) -> any Sendable {
        // A value passed with the call would take precedence over the URL.
        let parameters = self.customer.isEmpty || url.namesSession ? [:] : self.customer
        guard let asker else { return try await self.bus.route(url, parameters: parameters).value }
        return try await self.bus.route(url, parameters: parameters) { (request: PaymentRequest) in
            await asker(request)
        }
    }

    private func fail(_ line: String) throws {
        self.failures += 1
        try self.desk.complain(line)
    }
}
