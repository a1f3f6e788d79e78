#if Durable
internal import Waybill
internal import WaybillRouting

extension Batch {
    /// Makes messages ready whose attempts were underway when an earlier process ended, and begins delivery.
    ///
    /// A message that was interrupted once is attempted again at once. A message that was interrupted more
    /// than once is possibly the reason why the process ended. This message waits, and is attempted alone,
    /// so that other messages can be completed.
    func recover() throws {
        let database = self.tables.database
        var interrupted: [(message: BegunMessage, interruptions: Int)] = []
        let select = try database.prepare(
            """
            SELECT id, url, lane, order_key, NULL, attempts, expires, sent, interruptions FROM waybill_messages
            WHERE state = 1 ORDER BY id
            """
        )
        // The values of the messages may need much memory, so they are not read.
        try select.forEachRow { interrupted.append((BegunMessage(select), select.amount(8) + 1)) }
        let update = try database.prepare(
            "UPDATE waybill_messages SET state = 0, due = ?, interruptions = ?, lane = ? WHERE id = ?"
        )
        for (message, interruptions) in interrupted {
            let policy = self.settings.policies.policy(of: message.url)
            if message.attempts >= policy.attempts {
                let reason = "the process ended while the message was being handled, in its last attempt"
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
        self.lanes.isDelivering = true
    }

    /// Adds each lane in which messages wait, by a query that jumps from one lane to the next in the index.
    private func findLanes() throws {
        let next = try self.tables.database.prepare(
            "SELECT min(lane) FROM waybill_messages WHERE state = 0 AND lane > ?"
        )
        var lane: String?
        if try self.tables.nextDue(of: DurablePolicies.commonLane) != nil {
            lane = DurablePolicies.commonLane
        }
        lane = try lane ?? next.first("") { $0.text(0) }
        while let found = lane {
            self.addLane(found)
            if let due = try self.tables.nextDue(of: found) {
                self.lanes.wait(in: found, until: due)
            }
            lane = try next.first(found) { $0.text(0) }
            // A name that is not valid UTF-8 would be found again and again.
            if lane == found { break }
        }
    }
}
#endif
