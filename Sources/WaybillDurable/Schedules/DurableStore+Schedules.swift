#if Durable
internal import WaybillRouting

/// A schedule in the file of a store.
public struct DurableSchedule: Sendable, Codable {
    /// The name.
    public let name: String
    /// The URL to which the schedule's messages are sent.
    public let url: String
    /// The rule, as text.
    public let rule: String
    /// The next time at which a message is sent, in milliseconds since 1970.
    public let next: Int
}

extension DurableStore {
    /// Declares a schedule, which sends a durable message at each time of a rule.
    ///
    /// A program declares its schedules each time it starts. If the file already contains a schedule with
    /// this name and rule, the schedule keeps its next time. A schedule stays in the file until
    /// ``unschedule(_:)`` removes it. The schedules of a store send messages only while the store is attached
    /// to a bus.
    ///
    /// - Parameters:
    ///   - name: The name of the schedule.
    ///   - url: The URL to which the messages are sent.
    ///   - rule: The times at which messages are sent.
    ///   - parameters: Parameters of the messages in addition to the parameters in the URL. A value must be
    ///     `Encodable`.
    ///   - misfire: The policy for times that passed while the process did not run.
    /// - Throws: ``/WaybillRouting/RoutingError`` with `invalidURL` or `notTransferable`; ``DurableError``.
    public func schedule(
        _ name: String,
        _ url: String,
        _ rule: DurableRule,
        parameters: [String: any Sendable] = [:],
        misfire: DurableMisfire = .once
    ) async throws {
        _ = try self.engine.settings.policies.lane(of: url)
        let details = try MessageDetails(
            parameters: parameters,
            headers: ["waybill-schedule": name]
        ).encoded(for: url)
        try await self.engine.perform { batch in
            batch.schedulesChanged = true
            let now = rule.followsWallClock ? StoreClock.wallTime : batch.now
            try batch.database.execute(
                """
                INSERT INTO waybill_schedules (name, url, details, rule, zone, misfire, next)
                VALUES (?,?,?,?,?,?,?) ON CONFLICT (name) DO UPDATE SET
                url = excluded.url, details = excluded.details, misfire = excluded.misfire,
                next = iif(rule = excluded.rule AND zone = excluded.zone AND next <= ?, next, excluded.next),
                rule = excluded.rule, zone = excluded.zone
                """,
                name,
                url,
                details,
                rule.text,
                rule.zone,
                misfire.rawValue,
                rule.next(after: now),
                // A wall clock that was a year ahead must not stop the schedule for a year. After a
                // correction of an hour, the schedule sends no message again.
                rule.next(after: now + 3_600_000)
            )
        }
    }

    /// Removes a schedule.
    ///
    /// - Returns: Whether the store had a schedule with this name.
    @discardableResult
    public func unschedule(_ name: String) async throws -> Bool {
        try await self.engine.perform { batch in
            batch.schedulesChanged = true
            try batch.database.execute("DELETE FROM waybill_schedules WHERE name = ?", name)
            return batch.database.changes > 0
        }
    }

    /// The schedules of the store, in the order of their names.
    public func schedules() async throws -> [DurableSchedule] {
        try await self.engine.perform { batch in
            let select = try batch.database.prepare(
                "SELECT name, url, rule, zone, next FROM waybill_schedules ORDER BY name"
            )
            return try select.rows { row in
                let zone = row.text(3).flatMap { $0.isEmpty ? nil : " \($0)" } ?? ""
                return DurableSchedule(
                    name: row.text(0) ?? "",
                    url: row.text(1) ?? "",
                    rule: (row.text(2) ?? "") + zone,
                    next: row.int(4)
                )
            }
        }
    }
}
#endif
