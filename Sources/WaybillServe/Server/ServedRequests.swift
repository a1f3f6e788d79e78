/// The requests of one peer that are being handled, their batches and their limits; a value that performs no
/// I/O.
///
/// Every admitted request is answered once. The answers to a batch are sent together, after its last request
/// has been answered.
struct ServedRequests: Sendable {
    /// The number of an admitted request.
    typealias Number = Int

    private struct Request: Sendable {
        let id: RPCID
        let batch: Int?
        let bytes: Int
    }

    private struct Batch: Sendable {
        var missing: Int
        /// The answers so far, as the text of an array without its end.
        var text: [UInt8] = []
        var answerBytes = 0
    }

    private let limits: RPCServer.Limits
    /// The size of the requests in flight, in bytes.
    private(set) var bytes = 0
    private var requests: [Number: Request] = [:]
    private var numbers: [RPCID: Number] = [:]
    private var batches: [Int: Batch] = [:]
    /// The size of the answers in open batches, in bytes.
    private(set) var batchBytes = 0
    private var lastNumber = 0

    init(_ limits: RPCServer.Limits) { self.limits = limits }

    /// The number of requests in flight.
    var count: Int { self.requests.count }

    /// Whether no request and no batch is open.
    var isEmpty: Bool { self.requests.isEmpty && self.batches.isEmpty }

    /// Admits a request.
    ///
    /// - Parameters:
    ///   - id: The ID of the request.
    ///   - bytes: The size of the request, which stays in memory while the request is handled.
    ///   - batch: The batch of the request; nil if it has none.
    /// - Returns: The number of the request.
    /// - Throws: The failure to answer with: the ID is in flight already, or a limit is reached.
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
            guard self.numbers[id] == nil else {
                throw .invalid("a request with this ID is in flight: use another ID")
            }
        }
        self.lastNumber += 1
        if id != .null { self.numbers[id] = self.lastNumber }
        self.requests[self.lastNumber] = Request(id: id, batch: batch, bytes: bytes)
        self.bytes += bytes
        return self.lastNumber
    }

    /// Ends a request with its answer.
    ///
    /// - Returns: The text to send; nil if the request is in a batch that is not complete.
    mutating func finish(_ number: Number, _ answer: [UInt8]) -> [UInt8]? {
        guard let request = self.requests.removeValue(forKey: number) else { return nil }
        self.numbers[request.id] = nil
        self.bytes -= request.bytes
        return self.add(answer, to: request.batch)
    }

    /// Returns the number of the request with an ID; nil if no such request is in flight.
    func number(of id: RPCID) -> Number? { self.numbers[id] }

    func id(of number: Number) -> RPCID? { self.requests[number]?.id }

    /// Returns the batch of a request; nil if it has none.
    func batch(of number: Number) -> Int? { self.requests[number]?.batch }

    /// The numbers of the requests in flight, in ascending order.
    var all: [Number] { self.requests.keys.sorted() }

    /// Begins a batch of `count` messages, including notifications, and returns the number of the batch.
    mutating func beginBatch(of count: Int) -> Int {
        self.lastNumber += 1
        self.batches[self.lastNumber] = Batch(missing: count)
        return self.lastNumber
    }

    /// Adds an answer to a batch, or nil for a notification, and returns the text to send.
    ///
    /// Without a batch, the answer is returned. The text of a batch is returned when its last message has
    /// been added.
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

    /// Returns whether an answer to a request in a batch fits beside the answers of all open batches.
    func hasRoom(for answer: [UInt8], in batch: Int?) -> Bool {
        guard batch != nil, self.batchBytes > 0 else { return true }
        return self.batchBytes + answer.count <= self.limits.batchAnswerBytes
    }

    /// Removes all requests and batches, because the connection is closed.
    ///
    /// - Returns: The number of requests that were abandoned.
    mutating func abandonAll() -> Int {
        defer { self = ServedRequests(self.limits) }
        return self.requests.count
    }
}
