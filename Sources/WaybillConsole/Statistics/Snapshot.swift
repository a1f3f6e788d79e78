#if HTTP
internal import Waybill
internal import WaybillEventLoop
internal import WaybillHTTP

/// The stream of events that an open page receives.
///
/// Each event is a snapshot of the changes since the previous snapshot.
///
/// A snapshot is sent when the page has received the previous snapshot, and no more often than the
/// configuration allows. No snapshots are queued for a slow page.
struct SnapshotStream {
    let recorder: Recorder
    let board: StatisticsBoard
    let letters: LetterBox
    /// The reader's number in the recorder.
    let reader: Int
    /// The maximum number of messages in a snapshot.
    let rows: Int
    let interval: Duration

    /// Sends snapshots until the task is cancelled.
    func run(_ sink: EventSink) async {
        // The statistics of each route that the page last received.
        var known: [String: StatisticsBoard.Row] = [:]
        var (sample, sentAt) = (0, -Double.infinity)
        while !Task.isCancelled {
            let current = self.board.current
            let now = self.recorder.seconds()
            let hasChanged = self.recorder.state.withLock { $0.hasChanges(for: self.reader) }
            // Without messages, the rates fall to zero. The page must show this, so send a snapshot at least
            // every second.
            if hasChanged || now - sentAt >= 1 {
                let rows = sample == current.number ? nil : current.rows
                let routes = rows?.filter { known[$0.pattern] != $0 } ?? []
                let removed = rows.map { Set(known.keys).subtracting($0.map(\.pattern)).sorted() } ?? []
                for row in routes { known[row.pattern] = row }
                for pattern in removed { known[pattern] = nil }
                (sample, sentAt) = (current.number, now)
                let json = self.json(current, routes: routes, removed: removed, now: now)
                await sink.send(ServerSentEvent("snapshot", json))
            }
            try? await Task.sleep(for: self.interval)
        }
    }

    private func json(
        _ sample: StatisticsBoard.Sample,
        routes: [StatisticsBoard.Row],
        removed: [String],
        now: Double
    ) -> [UInt8] {
        let changes = self.recorder.state.withLock { $0.changes(for: self.reader, limit: self.rows) }
        var json = JSONFields(capacity: 4096)
        json.add("time", now)
        json.add("rows", items: changes.messages) { $1.add($0) }
        json.add("counted", changes.counted)
        json.add("shown", changes.shown)
        json.add("dropped", max(0, changes.counted - changes.shown))
        json.add("bus") { $0.add(sample.bus, isBus: true) }
        json.add("routes", items: routes) { row, json in
            json.add("pattern", row.pattern)
            json.add(row.counts, isBus: false)
            json.add("rate", row.rate)
            json.add("p50", row.median)
            json.add("p99", row.p99)
            json.add("waiting", row.waiting)
            json.add("limit", row.limit)
        }
        json.add("removed", removed)
        json.add(
            "histogram",
            raw: "[\(sample.histogram.map { "[\($0.upper),\($0.count)]" }.joined(separator: ","))]"
        )
        json.add("loops", items: sample.loops) { loop, json in
            json.add("name", loop.name)
            json.add("lag", loop.lag)
        }
        json.add("deadLetters", self.letters.counted)
        return json.bytes
    }
}

extension JSONFields {
    /// Adds the properties of a message as members.
    fileprivate mutating func add(_ message: RecordedMessage) {
        self.add("id", "\(message.id)")
        self.add("time", message.time)
        self.add("url", message.url)
        self.add("pattern", message.pattern)
        self.add("module", message.module)
        self.add("node", message.node)
        self.add("origin", message.origin)
        self.add("cause", message.cause.map { "\($0)" })
        self.add("answers", message.answers.map { "\($0)" })
        self.add("kind", message.kind.rawValue)
        self.add("state", message.state)
        self.add("progress", message.progress)
        self.add("duration", message.duration)
        self.add(message.failure)
        self.add("value", message.reply ?? message.value)
        self.add("parameters") { json in
            for parameter in message.parameters { json.add(parameter.name, parameter.shape) }
        }
    }

    /// Adds a failure as the member `failure`.
    mutating func add(_ failure: ShownFailure?) {
        guard let failure else { return self.add("failure", raw: "null") }
        self.add("failure") { json in
            json.add("code", failure.code)
            json.add("message", failure.message)
        }
    }

    fileprivate mutating func add(_ counts: BusStatistics, isBus: Bool) {
        self.add("sent", counts.sent)
        self.add("replied", counts.replied)
        self.add("failed", counts.failed)
        self.add("expired", counts.expired)
        self.add("cancelled", counts.cancelled)
        self.add("deadLettered", counts.deadLettered)
        self.add("inFlight", counts.inFlight)
        if isBus { self.add("lateReplies", counts.lateReplies) }
    }
}
#endif
