/// The requests of one peer that are being handled, their batches, and their limits.
///
/// The value performs no I/O. Every admitted request is answered once. The requests of a batch are answered
/// together, after the last one has ended.
struct ServedRequests: Sendable {
    /// Which of the admitted requests it is.
    typealias Number = Int

    private struct Request: Sendable {
        let id: RPCID
        let batch: Int?
        let bytes: Int
    }

    private struct Batch: Sendable {
        var missing: Int
        /// The answers so far, as elements of a JSON array.
        var text: [UInt8] = []
        var answerBytes = 0
    }

    private let limits: RPCServer.Limits
    private var bytes = 0
    private var requests: [Number: Request] = [:]
    private var numbers: [RPCID: Number] = [:]
    private var batches: [Int: Batch] = [:]
    /// The size of the answers of batches that have not been sent yet.
    private(set) var batchBytes = 0
    private var lastNumber = 0

    init(_ limits: RPCServer.Limits) { self.limits = limits }

    /// How many requests are in flight.
    var count: Int { self.requests.count }

    /// Whether nothing is owed to the peer.
    var isEmpty: Bool { self.requests.isEmpty && self.batches.isEmpty }

    /// Admits a request, unless its ID is in flight already or there are too many.
    ///
    /// - Parameters:
    ///   - id: The ID of the request.
    ///   - bytes: The size of the request, which stays in memory while it is handled.
    ///   - batch: The batch that the request is in.
    /// - Returns: The number of the request.
    /// - Throws: The failure to answer instead.
    mutating func admit(_ id: RPCID, bytes: Int, batch: Int?) throws(RPCFailure) -> Number {
        guard self.requests.count < self.limits.requestsInFlight else {
            let limit = self.limits.requestsInFlight
            throw .limit("\(limit) requests of this connection are in flight, which is the limit")
        }
        guard self.requests.isEmpty || self.bytes + bytes <= self.limits.requestBytesInFlight else {
            let limit = self.limits.requestBytesInFlight
            throw .limit("the requests of this connection in flight may have \(limit) bytes together")
        }
        if id != .null {
            guard self.numbers[id] == nil else { throw .invalid("a request with this ID is in flight") }
        }
        self.lastNumber += 1
        if id != .null { self.numbers[id] = self.lastNumber }
        self.requests[self.lastNumber] = Request(id: id, batch: batch, bytes: bytes)
        self.bytes += bytes
        return self.lastNumber
    }

    /// Records the answer to a request.
    ///
    /// - Returns: The bytes to send, or nil when the rest of a batch is not answered yet.
    mutating func finish(_ number: Number, _ answer: [UInt8]) -> [UInt8]? {
        guard let request = self.requests.removeValue(forKey: number) else { return nil }
        self.numbers[request.id] = nil
        self.bytes -= request.bytes
        return self.add(answer, to: request.batch)
    }

    /// The request with an ID, to cancel it or to answer its progress.
    func number(of id: RPCID) -> Number? { self.numbers[id] }

    func id(of number: Number) -> RPCID? { self.requests[number]?.id }

    /// The batch that a request is in.
    func batch(of number: Number) -> Int? { self.requests[number]?.batch }

    /// All requests in flight.
    var all: [Number] { self.requests.keys.sorted() }

    /// Begins a batch of a number of messages, notifications included.
    mutating func beginBatch(of count: Int) -> Int {
        self.lastNumber += 1
        self.batches[self.lastNumber] = Batch(missing: count)
        return self.lastNumber
    }

    /// Adds an answer to a batch, or nothing for a notification; without a batch, it goes out alone.
    mutating func add(_ answer: [UInt8]?, to batch: Int?) -> [UInt8]? {
        guard let batch else { return answer }
        guard var state = self.batches.removeValue(forKey: batch) else { return nil }
        state.missing -= 1
        if let answer {
            state.text.append(UInt8(ascii: state.text.isEmpty ? "[" : ","))
            state.text += answer
            state.answerBytes += answer.count
            self.batchBytes += answer.count
        }
        guard state.missing == 0 else {
            self.batches[batch] = state
            return nil
        }
        self.batchBytes -= state.answerBytes
        guard !state.text.isEmpty else { return nil }
        state.text.append(UInt8(ascii: "]"))
        return state.text
    }

    /// Whether there is room for an answer in a batch, beside the answers of all open batches.
    func hasRoom(for answer: [UInt8], in batch: Int?) -> Bool {
        guard batch != nil, self.batchBytes > 0 else { return true }
        return self.batchBytes + answer.count <= self.limits.batchAnswerBytes
    }

    /// Forgets everything: the connection is closed.
    ///
    /// - Returns: How many requests are abandoned.
    mutating func abandonAll() -> Int {
        defer { self = ServedRequests(self.limits) }
        return self.requests.count
    }
}
