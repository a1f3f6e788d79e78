#if Durable
internal import WaybillRouting

/// The statistics of a store.
public struct DurableStatistics: Sendable, Equatable, Codable {
    /// The number of messages that wait for an attempt.
    public var waiting = 0
    /// The number of attempts that are underway.
    public var underway = 0
    /// The number of dead letters.
    public var dead = 0
    /// The number of schedules.
    public var schedules = 0
    /// The age of the oldest message that is neither completed nor dead, in milliseconds; nil if none is.
    public var oldestAge: Int?
    /// The number of bytes of the file that contain data.
    public var size = 0
    /// The number of attempts that have begun since the store was opened.
    public var attempts = 0
    /// The number of commits since the store was opened; a commit writes all work that has arrived.
    public var commits = 0
    /// The total duration of the commits since the store was opened, in microseconds.
    public var commitTime = 0
}

extension DurableStore {
    /// Sends dead letters again, with the full number of attempts.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the dead letters' URLs; nil for all URLs.
    ///   - id: The number of one message; nil for all messages.
    /// - Returns: The number of messages that were sent again.
    /// - Throws: `invalidPattern`; ``DurableError``.
    @discardableResult
    public func retry(matching pattern: String? = nil, id: Int? = nil) async throws -> Int {
        try await self.forEachDeadLetter(matching: pattern, id: id) { id, url, batch in
            let lane = batch.settings.policies.lane(ofStored: url)
            // The message keeps its number. It waits behind another message with its order key.
            let insert = try batch.database.statement(
                """
                INSERT INTO waybill_messages (id, state, url, lane, due, sent, attempts, order_key, details)
                SELECT id, iif(EXISTS (SELECT 1 FROM waybill_messages AS other
                    WHERE other.order_key = dead.order_key), 2, 0), url, ?, ?, sent, 0, order_key, details
                FROM waybill_dead AS dead WHERE id = ? RETURNING state = 2, length(details)
                """
            )
            let (isBehind, size) =
                try insert.first([lane, batch.now, id]) { ($0.int(0) == 1, $0.int(1)) } ?? (true, 0)
            if !isBehind { batch.wait(in: lane, until: batch.now) }
            return size
        }
    }

    /// Deletes dead letters and returns their number; see ``retry(matching:id:)`` for parameters and errors.
    @discardableResult
    public func drop(matching pattern: String? = nil, id: Int? = nil) async throws -> Int {
        try await self.forEachDeadLetter(matching: pattern, id: id) { _, _, _ in 0 }
    }

    /// Returns the statistics of the store, in a time that grows with the number of messages in the file.
    public func statistics() async throws -> DurableStatistics {
        try await self.engine.perform { batch in
            func number(_ sql: String) throws(DurableError) -> Int? {
                try batch.database.prepare(sql).first { $0.optionalAmount(0) }
            }
            var statistics = batch.state.statistics
            statistics.waiting = try number("SELECT count(*) FROM waybill_messages WHERE state <> 1") ?? 0
            statistics.underway = try number("SELECT count(*) FROM waybill_messages WHERE state = 1") ?? 0
            statistics.dead = try number("SELECT count(*) FROM waybill_dead") ?? 0
            statistics.schedules = try number("SELECT count(*) FROM waybill_schedules") ?? 0
            let oldest = try number("SELECT sent FROM waybill_messages ORDER BY id LIMIT 1")
            statistics.oldestAge = oldest.map { max(0, batch.now - $0) }
            statistics.size = try batch.database.usedSize()
            return statistics
        }
    }

    /// Checks the whole file for damage, and returns the problems, each on one line.
    ///
    /// During the check, sends wait. The time for the check grows with the size of the file.
    public func check() async throws -> [String] {
        try await self.engine.perform { batch in try batch.database.problems() }
    }

    /// The number of characters after which the retry of dead letters lets other work have its turn.
    private static let sizePerTurn = 4 << 20

    /// Deletes dead letters after it has called a closure for each, and returns the number of dead letters.
    ///
    /// The closure returns the number of characters that it has written.
    private func forEachDeadLetter(
        matching pattern: String?,
        id: Int?,
        _ body: @escaping @Sendable (_ id: Int, _ url: String, Batch) throws -> Int
    ) async throws -> Int {
        let scope = try self.engine.settings.policies.scope(of: pattern)
        var count = 0
        var next: Int? = id ?? .min
        while let first = next {
            let (found, last) = try await self.engine.perform { batch -> (Int, Int?) in
                let limit = StoreEngine.rowsPerTurn
                // The values of the letters may need much memory, so they are not read.
                let select = try batch.database.prepare(
                    "SELECT id, url FROM waybill_dead WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?"
                )
                let letters = try select.rows([first, id ?? .max, limit]) { ($0.int(0), $0.text(1) ?? "") }
                var (found, size) = (0, 0)
                for (id, url) in letters where scope?.canRoute(url) ?? true {
                    size += try body(id, url, batch)
                    try batch.database.run("DELETE FROM waybill_dead WHERE id = ?", [id])
                    found += 1
                    if size > Self.sizePerTurn { return (found, id) }
                }
                return (found, letters.count == limit ? letters.last?.0 : nil)
            }
            count += found
            next = last.flatMap { $0 < .max ? $0 + 1 : nil }
        }
        return count
    }
}
#endif
