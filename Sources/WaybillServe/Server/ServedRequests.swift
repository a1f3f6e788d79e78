/// The requests of one peer that are being handled, their batches, and how many there may be; a value that
/// performs no I/O.
///
/// Every request that is admitted is answered once. Those of a batch are answered together, when the last one
/// is.
struct ServedRequests: Sendable {
    /// Which of the admitted requests it is.
    typealias Number = Int

    private struct Request: Sendable {
        let id: RPCID
        let batch: Int?
    }

    private struct Batch: Sendable {
        var missing: Int
        var answers: [[UInt8]] = []
    }

    private let limit: Int
    private var requests: [Number: Request] = [:]
    private var numbers: [RPCID: Number] = [:]
    private var batches: [Int: Batch] = [:]
    private var lastNumber = 0

    init(limit: Int) { self.limit = limit }

    /// How many requests are in flight.
    var count: Int { self.requests.count }

    /// Whether nothing is owed to the peer.
    var isEmpty: Bool { self.requests.isEmpty && self.batches.isEmpty }

    /// Admits a request, unless its ID is in flight already or there are too many.
    ///
    /// - Throws: What the peer is answered instead.
    mutating func admit(_ id: RPCID, batch: Int?) throws(RPCFailure) -> Number {
        guard self.requests.count < self.limit else {
            throw .limit("\(self.limit) requests of this connection are in flight, which is the limit")
        }
        if id != .null {
            guard self.numbers[id] == nil else { throw .invalid("a request with this ID is in flight") }
        }
        self.lastNumber += 1
        if id != .null { self.numbers[id] = self.lastNumber }
        self.requests[self.lastNumber] = Request(id: id, batch: batch)
        return self.lastNumber
    }

    /// Takes the answer to a request.
    ///
    /// - Returns: What to send, if anything is due.
    mutating func finish(_ number: Number, _ answer: [UInt8]) -> [UInt8]? {
        guard let request = self.requests.removeValue(forKey: number) else { return nil }
        self.numbers[request.id] = nil
        return self.add(answer, to: request.batch)
    }

    /// The request with an ID, to cancel it or to answer its progress.
    func number(of id: RPCID) -> Number? { self.numbers[id] }

    func id(of number: Number) -> RPCID? { self.requests[number]?.id }

    /// All that are in flight.
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
        if let answer { state.answers.append(answer) }
        guard state.missing == 0 else {
            self.batches[batch] = state
            return nil
        }
        guard !state.answers.isEmpty else { return nil }
        var text: [UInt8] = []
        for answer in state.answers {
            text.append(UInt8(ascii: text.isEmpty ? "[" : ","))
            text += answer
        }
        text.append(UInt8(ascii: "]"))
        return text
    }

    /// Forgets everything: the connection is closed.
    ///
    /// - Returns: How many requests are abandoned.
    mutating func abandonAll() -> Int {
        defer { self = ServedRequests(limit: self.limit) }
        return self.requests.count
    }
}
