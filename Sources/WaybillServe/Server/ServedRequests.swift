/// A record of an admitted request, which the owner of a session creates.
///
/// The session retains the record until the answer is sent. An answer in a batch is sent with the last answer
/// of the batch.
package protocol RequestRecord: AnyObject, Sendable {
    /// Records the end of the request.
    ///
    /// - Parameter failure: The message of the failure; nil if the request has a reply.
    func end(failure: String?)
}

/// The requests of one peer that are being handled, their batches and their limits.
///
/// This type is a value that performs no I/O. Every admitted request is answered once. The answers to a batch
/// are sent together, after the last request of the batch has been answered.
struct ServedRequests: Sendable {
    /// The session's own number of an admitted request; a peer can use its ID again.
    typealias Number = Int

    struct Request: Sendable {
        let id: RPCID
        /// The batch of the request; nil if the request is not in a batch.
        let batch: Int?
        fileprivate let bytes: Int
        /// The record of the request; nil if the owner of the session keeps no records.
        let record: (any RequestRecord)?
    }

    private struct Batch: Sendable {
        var missing: Int
        /// The answers so far: a JSON array without its closing bracket.
        var text: [UInt8] = []
        var answerBytes = 0
        /// The size of the answers to messages that were rejected, in bytes.
        var rejectedBytes = 0
        /// The records of the answered requests, whose answers wait for the other answers of the batch.
        var records: [any RequestRecord] = []
    }

    private let limits: RPCServer.Limits
    /// The size of the unanswered requests, in bytes.
    private(set) var bytes = 0
    private var requests: [Number: Request] = [:]
    private var numbers: [RPCID: Number] = [:]
    private var batches: [Int: Batch] = [:]
    /// The size of the answers in unfinished batches, in bytes.
    private(set) var batchBytes = 0
    /// The size of the answers in unfinished batches to messages that were rejected, in bytes.
    private var rejectedBytes = 0
    private var lastNumber = 0

    init(_ limits: RPCServer.Limits) { self.limits = limits }

    /// The number of unanswered requests.
    var count: Int { self.requests.count }

    /// Whether all requests have been answered and all batches are finished.
    var isEmpty: Bool { self.requests.isEmpty && self.batches.isEmpty }

    /// Admits a request, and returns its number.
    ///
    /// The record is created only if the request is admitted.
    ///
    /// - Throws: The failure for the peer, if another unanswered request has the same ID, or a limit is
    ///   reached.
    mutating func admit(
        _ id: RPCID,
        bytes: Int,
        batch: Int?,
        record: @autoclosure () -> (any RequestRecord)?
    ) throws(RPCFailure) -> Number {
        guard self.requests.count < self.limits.requestsInFlight else {
            let limit = self.limits.requestsInFlight
            throw .limit("\(limit) requests of this connection are in flight, which is the limit")
        }
        guard self.requests.isEmpty || self.bytes + bytes <= self.limits.requestBytesInFlight else {
            let limit = self.limits.requestBytesInFlight
            throw .limit("the requests of this connection that are in flight would exceed \(limit) bytes")
        }
        if id != .null {
            guard self.numbers[id] == nil else {
                throw .invalid("a request with this ID is in flight: use another ID")
            }
        }
        self.lastNumber += 1
        if id != .null { self.numbers[id] = self.lastNumber }
        self.requests[self.lastNumber] = Request(id: id, batch: batch, bytes: bytes, record: record())
        self.bytes += bytes
        return self.lastNumber
    }

    /// Removes and returns a request, whose answer the caller adds to the batch of the request.
    mutating func remove(_ number: Number) -> Request? {
        guard let request = self.requests.removeValue(forKey: number) else { return nil }
        self.numbers[request.id] = nil
        self.bytes -= request.bytes
        return request
    }

    /// Returns the number of the unanswered request with an ID; nil if there is none.
    func number(of id: RPCID) -> Number? { self.numbers[id] }

    func id(of number: Number) -> RPCID? { self.requests[number]?.id }

    func record(of number: Number) -> (any RequestRecord)? { self.requests[number]?.record }

    /// Returns the batch of a request; nil if the request is not in a batch.
    func batch(of number: Number) -> Int? { self.requests[number]?.batch }

    /// The numbers of the unanswered requests, in ascending order.
    var all: [Number] { self.requests.keys.sorted() }

    /// Begins a batch of `count` messages, including notifications, and returns the number of the batch.
    mutating func beginBatch(of count: Int) -> Int {
        self.lastNumber += 1
        self.batches[self.lastNumber] = Batch(missing: count)
        return self.lastNumber
    }

    /// Adds an answer to a batch, and returns the text to send.
    ///
    /// `answer` is nil for a notification, and `batch` is nil for a request without a batch. The text is the
    /// answer without a batch, or the text of the batch after its last message has been added. The record is
    /// retained until the answer is returned. `isRejection` tells whether the message was not admitted.
    mutating func add(
        _ answer: [UInt8]?,
        to batch: Int?,
        retaining record: (any RequestRecord)? = nil,
        isRejection: Bool = false
    ) -> [UInt8]? {
        guard let batch else { return answer }
        guard var state = self.batches.removeValue(forKey: batch) else { return nil }
        state.missing -= 1
        if let answer {
            state.text.append(UInt8(ascii: state.text.isEmpty ? "[" : ","))
            state.text += answer
            state.answerBytes += answer.count
            if let record { state.records.append(record) }
            self.batchBytes += answer.count
            if isRejection {
                state.rejectedBytes += answer.count
                self.rejectedBytes += answer.count
            }
        }
        guard state.missing == 0 else {
            self.batches[batch] = state
            return nil
        }
        self.batchBytes -= state.answerBytes
        self.rejectedBytes -= state.rejectedBytes
        guard !state.text.isEmpty else { return nil }
        state.text.append(UInt8(ascii: "]"))
        return state.text
    }

    /// Whether the answers to rejected messages in unfinished batches exceed the limit.
    ///
    /// A rejected message is not in flight, so a peer could collect any number of these answers.
    var hasManyRejections: Bool { self.rejectedBytes > self.limits.batchAnswerBytes }

    /// Returns whether the limit for the answers of all unfinished batches allows another answer.
    func hasRoom(for answer: [UInt8], in batch: Int?) -> Bool {
        guard batch != nil, self.batchBytes > 0 else { return true }
        return self.batchBytes + answer.count <= self.limits.batchAnswerBytes
    }

    /// Removes all requests and batches of a disconnected peer, and returns the count of unanswered requests.
    mutating func abandonAll() -> Int {
        defer { self = ServedRequests(self.limits) }
        return self.requests.count
    }
}
