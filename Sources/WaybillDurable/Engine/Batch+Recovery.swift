#if Durable
internal import Waybill
internal import WaybillRouting

extension Batch {
    /// Makes messages ready whose attempts were underway when an earlier process ended, and begins delivery.
    ///
    /// A message that was interrupted once is attempted again at once. A message that was interrupted more
    /// than once is possibly the reason why the process ended. This message waits, and is attempted alone,
    /// so that other messages can be completed.
    ///
    /// If the store is already closing, the next process recovers the messages.
    func recover() throws {
        if self.state.lanes.hasEnded { return }
        let database = self.database
        // The values of the messages may need much memory, so they are not read.
        let interrupted = try database.prepare(
            """
            SELECT id, url, lane, order_key, NULL, attempts, expires, sent, interruptions FROM waybill_messages
            WHERE state = 1 ORDER BY id
            """
        ).rows { (message: BegunMessage($0), interruptions: $0.amount(8) + 1) }
        let update = try database.prepare(
            "UPDATE waybill_messages SET state = 0, due = ?, interruptions = ?, lane = ? WHERE id = ?"
        )
        for (message, interruptions) in interrupted {
            let policy = self.settings.policies.policy(of: message.url)
            if message.attempts >= policy.attempts {
                let reason = "the process ended, or closed the store, during the last attempt"
                try self.kill(message, with: RoutingError(.handlerFailed, url: message.url, message: reason))
                continue
            }
            let isSuspect = interruptions > 1
            let delay = isSuspect ? policy.backoff.delay(after: message.attempts) : .zero
            try update.run(
                StoreClock.adding(delay, to: self.now),
                interruptions,
                isSuspect ? DurablePolicies.interruptedLane : message.lane,
                message.id
            )
        }
        try self.findLanes()
        self.state.lanes.hasBegun = true
    }

    /// Adds each lane in which messages wait, by a query that jumps from one lane to the next in the index.
    private func findLanes() throws {
        let select = try self.database.prepare(
            """
            WITH RECURSIVE lanes (lane) AS (
                SELECT min(lane) FROM waybill_messages WHERE state = 0
                UNION ALL SELECT (SELECT min(lane) FROM waybill_messages WHERE state = 0 AND lane > lanes.lane)
                FROM lanes WHERE lane IS NOT NULL)
            SELECT lane, (SELECT min(due) FROM waybill_messages AS m WHERE m.lane = lanes.lane AND state = 0)
            FROM lanes WHERE lane IS NOT NULL
            """
        )
        try select.forEachRow {
            if let due = select.optionalAmount(1) { self.wait(in: select.text(0) ?? "", until: due) }
        }
    }
}
#endif
