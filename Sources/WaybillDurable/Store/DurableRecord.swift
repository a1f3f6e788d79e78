#if Durable
internal import WaybillRouting

/// A message in the file of a store.
public struct DurableRecord: Sendable, Codable {
    /// The state of a message.
    public enum State: String, Sendable, Codable {
        /// The message waits for an attempt.
        case waiting
        /// An attempt is underway, or was underway when the process ended.
        case underway
        /// The message waits until an earlier message with the same order key is completed or dead.
        case behind
        /// The message is a dead letter: the store no longer tries to deliver it.
        case dead

        /// The states, each at the index that is its number in the file.
        fileprivate static let numbered: [State] = [.waiting, .underway, .behind, .dead]

        /// The number of the state in the file.
        var number: Int { Self.numbered.firstIndex(of: self) ?? 0 }
    }

    /// The number of the message.
    public let id: Int
    /// The URL to which the message is sent.
    public let url: String
    /// The state.
    public let state: State
    /// The number of attempts that have begun.
    public let attempts: Int
    /// The time at which the message was sent, in milliseconds since 1970.
    public let sent: Int
    /// The time of the next attempt, or the time at which a dead letter died, in milliseconds since 1970.
    public let time: Int
    /// The order key of the message, which is the argument `order` of `send`; nil if the message has none.
    public let order: String?
    /// The ``/WaybillRouting/RoutingError/Code`` that made the message a dead letter, as text.
    public let code: String?
    /// The last failure, on one line; nil if no attempt has failed.
    public let failure: String?
    /// The parameters, headers and payload as a JSON object; nil if the message has none of them.
    public fileprivate(set) var details: String?

    /// Creates a record, for tests of code that shows records.
    public init(
        id: Int,
        url: String,
        state: State,
        attempts: Int = 0,
        sent: Int = 0,
        time: Int = 0,
        order: String? = nil,
        code: String? = nil,
        failure: String? = nil,
        details: String? = nil
    ) {
        self.id = id
        self.url = url
        self.state = state
        self.attempts = attempts
        self.sent = sent
        self.time = time
        self.order = order
        self.code = code
        self.failure = failure
        self.details = details
    }

    /// The approximate size of the record as JSON, in bytes.
    fileprivate var sizeOfJSON: Int {
        [self.url, self.order, self.failure, self.details].reduce(200) { size, text in
            let text = text ?? ""
            // The details are JSON in a text, so their quotation marks and backslashes are escaped again.
            let escapes = text.utf8.count { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
            return size + text.utf8.count + escapes
        }
    }

    /// Returns the record, with a note in place of its details if its JSON has more than `limit` bytes.
    func shortened(to limit: Int) -> DurableRecord {
        guard self.sizeOfJSON > limit, let details else { return self }
        var record = self
        record.details = #"{"omitted":"\#(details.utf8.count) bytes"}"#
        return record
    }
}

extension DurableStore {
    /// Returns messages in the file, in the order in which they were sent.
    ///
    /// A state, a pattern of URLs and the number of a message restrict the result. It begins after the
    /// message `previous`, and has at most `limit` messages, or fewer if their JSON would have more than
    /// 64 MiB.
    ///
    /// - Throws: `invalidPattern`; ``DurableError``.
    public func messages(
        in state: DurableRecord.State? = nil,
        matching pattern: String? = nil,
        id: Int? = nil,
        after previous: Int = 0,
        limit: Int = 1_000
    ) async throws -> [DurableRecord] {
        let scope = try self.engine.settings.policies.scope(of: pattern)
        return try await self.messages(
            MessageSearch(state: state, scope: scope, id: id, previous: previous, limit: limit)
        )
    }

    /// Returns the messages that a search finds; other work of the store has its turn between its steps.
    func messages(_ search: MessageSearch) async throws -> [DurableRecord] {
        var search = search
        while !search.isOver {
            search = try await self.engine.perform { [search] batch in
                var search = search
                try search.read(batch.database)
                return search
            }
        }
        return search.records
    }
}

/// A search for messages in the file, which reads the file in steps.
struct MessageSearch: Sendable {
    var state: DurableRecord.State?
    /// The table that matches the URLs of the messages; nil for all URLs.
    var scope: RouteTable<Void>?
    var id: Int?
    /// The number of the last message that the search has read.
    var previous = 0
    var limit = Int.max
    /// The maximum size of the messages as JSON, in bytes, but the first message may be larger.
    var sizeLimit = MessageDetails.sizeLimit
    var records: [DurableRecord] = []
    /// Whether the search has found all messages, or has reached a limit.
    var isOver = false
    /// The size of the records as JSON.
    var size = 0

    /// Reads the next rows.
    mutating func read(_ database: Database) throws(DurableError) {
        // SQLite evaluates a condition that does not depend on rows first, and does not read a table that the
        // condition excludes. The values of messages in another state are not read.
        let statement = try database.prepare(
            """
            SELECT id, url, state, attempts, sent, due, order_key, NULL, failure,
            iif(?3 IS NULL OR state = ?3, details, NULL) FROM waybill_messages
            WHERE ?3 IS NOT 3 AND id BETWEEN ?1 AND ?2
            UNION ALL SELECT id, url, 3, attempts, sent, died, order_key, code, failure, details FROM waybill_dead
            WHERE (?3 IS NULL OR ?3 = 3) AND id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?4
            """
        )
        var rows = 0
        let first = max(min(self.previous, .max - 1) + 1, self.id ?? .min)
        try statement.forEachRow(
            [first, self.id ?? .max, self.state?.number, StoreEngine.rowsPerTurn],
            while: self.records.count < self.limit && self.size <= self.sizeLimit
        ) {
            rows += 1
            self.previous = statement.int(0)
            let state = statement.int(2)
            let url = statement.text(1) ?? ""
            guard self.state.map({ $0.number == state }) ?? true, self.scope?.canRoute(url) ?? true else {
                return
            }
            let record = DurableRecord(
                id: self.previous,
                url: url,
                state: DurableRecord.State.numbered.first { $0.number == state } ?? .waiting,
                attempts: statement.int(3),
                sent: statement.int(4),
                time: statement.int(5),
                order: statement.text(6),
                code: statement.text(7),
                failure: statement.text(8),
                details: statement.text(9)
            )
            self.size += record.sizeOfJSON
            if self.size <= self.sizeLimit || self.records.isEmpty { self.records.append(record) }
        }
        self.isOver =
            rows < StoreEngine.rowsPerTurn || self.previous == .max
            || self.records.count >= self.limit || self.size > self.sizeLimit
    }
}
#endif
