internal import ShopAPI
internal import Waybill
internal import WaybillEventLoop

/// Takes URLs to the bus one after the other, writes down the replies, and says in one line what went wrong.
///
/// The clerk works on the loop of the modules, so that a URL gets there and back without a change of thread:
/// the main thread hands over what it has read in large pieces.
actor Clerk: LoopBound {
    /// Asks the customer whether to pay.
    typealias Asker = @Sendable (PaymentRequest) async -> PaymentAnswer

    nonisolated let eventLoop: EventLoop
    private let bus: MessageBus
    private let asker: Asker?
    private var splitter = LineSplitter()
    private var lineNumber = 0
    private var desk: Desk

    /// The session of the customer who signed in last, for the URLs that name none.
    private var customer: [String: any Sendable] = [:]

    /// How many URLs came to nothing.
    private(set) var failures = 0

    init(bus: MessageBus, format: ReplyFormat, asker: Asker? = nil) {
        self.bus = bus
        self.eventLoop = bus.eventLoop
        self.asker = asker
        self.desk = Desk(format: format)
    }
}

extension Clerk {
    /// Serves URLs, and shows the replies at once.
    func serve(_ urls: [String]) async throws {
        for url in urls { try await self.serve(url, place: "") }
        try self.desk.flush()
    }

    /// Serves the lines of a piece of a stream.
    func serve(piece: ArraySlice<UInt8>) async throws {
        self.splitter.append(piece)
        while let line = self.splitter.next() { try await self.serve(line) }
        try self.desk.flush()
    }

    /// Serves the last line of a stream, if no end of line followed it.
    func serveLastLine() async throws {
        if let line = self.splitter.finish() { try await self.serve(line) }
        try self.desk.flush()
    }

    /// Prints the following replies in another way.
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
