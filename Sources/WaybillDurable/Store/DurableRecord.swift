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
        /// The message waits until an earlier message with the same order key is completed or is a dead
        /// letter.
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
    /// The time of the next attempt, in milliseconds since 1970.
    ///
    /// For a dead letter, this is the time at which the message became a dead letter.
    public let time: Int
    /// The order key of the message, which is the argument `order` of `send`; nil if the message has none.
    ///
    /// Messages with the same order key are handled one after the other.
    public let order: String?
    /// The code of the error that made the message a dead letter, as ``/WaybillRouting/RoutingError/Code``
    /// prints it.
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
}

extension DurableStore {
    /// Returns messages in the file, in the order in which they were sent.
    ///
    /// - Parameters:
    ///   - state: The state of the messages; nil for all states.
    ///   - pattern: The pattern of the messages' URLs; nil for all URLs.
    ///   - id: The number of one message; nil for all messages.
    ///   - previous: The number of the message after which the result begins; 0 for the first message.
    ///   - limit: The maximum number of messages to return. The result is shorter if the JSON of more
    ///     messages would have more than 64 MiB.
    /// - Returns: The messages.
    /// - Throws: `invalidPattern`; ``DurableError``.
    public func messages(
        in state: DurableRecord.State? = nil,
        matching pattern: String? = nil,
        id: Int? = nil,
        after previous: Int = 0,
        limit: Int = 1_000
    ) async throws -> [DurableRecord] {
        try await self.page(in: state, matching: pattern, id: id, after: previous, limit: limit)
    }

    /// Returns messages in the file, at most `limit`, whose JSON has at most `size` bytes.
    ///
    /// The first message is returned even if it alone is larger.
    func page(
        in state: DurableRecord.State?,
        matching pattern: String?,
        id: Int?,
        after previous: Int,
        limit: Int,
        size: Int = MessageDetails.sizeLimit
    ) async throws -> [DurableRecord] {
        let scope = try self.scope(of: pattern)
        return try await self.engine.perform { batch in
            try batch.tables.records(
                in: state,
                scope: scope,
                id: id,
                after: previous,
                limit: limit,
                size: size
            )
        }
    }

    /// Returns dead letters, in the order in which they were sent.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the messages' URLs; nil for all URLs.
    ///   - limit: The maximum number of dead letters to return. The result is shorter if the JSON of
    ///     more dead letters would have more than 64 MiB.
    /// - Returns: The dead letters.
    /// - Throws: `invalidPattern`; ``DurableError``.
    public func deadLetters(
        matching pattern: String? = nil,
        limit: Int = 1_000
    ) async throws -> [DurableRecord] {
        try await self.messages(in: .dead, matching: pattern, limit: limit)
    }

    /// Returns a table with a pattern, to test which URLs match the pattern; nil if the pattern is nil.
    func scope(of pattern: String?) throws(RoutingError) -> RouteTable<Void>? {
        guard let pattern else { return nil }
        return try self.engine.settings.value.policies.scope(of: pattern)
    }
}

extension DurableRecord {
    /// The approximate size of the record as JSON, in bytes.
    ///
    /// The details are JSON in a text, so their quotation marks and backslashes are escaped again.
    fileprivate var sizeOfJSON: Int {
        [self.url, self.order, self.failure, self.details].reduce(200) { size, text in
            let text = text ?? ""
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

extension StoreTables {
    /// Returns the messages whose URLs a table matches, at most `limit`, whose JSON has at most `size` bytes.
    ///
    /// The first message is returned even if it alone is larger.
    func records(
        in state: DurableRecord.State?,
        scope: RouteTable<Void>?,
        id: Int? = nil,
        after previous: Int = 0,
        limit: Int = .max,
        size limitOfSize: Int = MessageDetails.sizeLimit
    ) throws(DurableError) -> [DurableRecord] {
        // SQLite evaluates a condition that does not depend on rows first, and does not read a table that the
        // condition excludes.
        let statement = try self.database.prepare(
            """
            SELECT id, url, state, attempts, sent, due, order_key, NULL, failure, details FROM waybill_messages
            WHERE ?3 IS NOT 3 AND id BETWEEN ?1 AND ?2 AND (?3 IS NULL OR state = ?3)
            UNION ALL SELECT id, url, 3, attempts, sent, died, order_key, code, failure, details FROM waybill_dead
            WHERE (?3 IS NULL OR ?3 = 3) AND id BETWEEN ?1 AND ?2 ORDER BY id
            """
        )
        var records: [DurableRecord] = []
        var size = 0
        let first = max(min(previous, .max - 1) + 1, id ?? .min)
        try statement.forEachRow(
            [first, id ?? .max, state?.number],
            while: records.count < limit && size <= limitOfSize
        ) {
            let url = statement.text(1) ?? ""
            guard scope?.canRoute(url) ?? true else { return }
            let record = DurableRecord(
                id: statement.int(0),
                url: url,
                state: DurableRecord.State.numbered.first { $0.number == statement.int(2) } ?? .waiting,
                attempts: statement.int(3),
                sent: statement.int(4),
                time: statement.int(5),
                order: statement.text(6),
                code: statement.text(7),
                failure: statement.text(8),
                details: statement.text(9)
            )
            size += record.sizeOfJSON
            if size <= limitOfSize || records.isEmpty { records.append(record) }
        }
        return records
    }
}
#endif
