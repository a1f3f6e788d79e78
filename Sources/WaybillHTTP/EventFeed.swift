#if HTTP
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The messages of one pattern in one format, for any number of clients: one subscription, and the last
/// messages for clients that come back.
final class EventFeed: Sendable {
    let name: FeedName
    private let messages: SubscriptionSequence
    /// Tells the numbers of this feed from those of one that there was before.
    private let epoch = String(UInt32.random(in: .min ... .max), radix: 16)
    private let state: Locked<State>

    private struct State {
        var log: EventLog
        var clients = 0
        /// How often there was no client any more.
        var absences = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter = 0

        mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
            defer { self.waiting = [:] }
            return Array(self.waiting.values)
        }
    }

    init(_ name: FeedName, _ messages: SubscriptionSequence, limit: Int) {
        self.name = name
        self.messages = messages
        self.state = Locked(State(log: EventLog(limit: limit)))
    }

    /// Reads the messages, until the subscription ends.
    func run() async {
        for await message in self.messages { self.change { $0.log.append(self.json(of: message)) } }
        self.change { $0.log.end() }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiting = self.state.withLock { state in
            body(&state)
            return state.takeWaiting()
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Notes that there is a client more.
    ///
    /// - Returns: the number of the last message before it.
    func enter() -> Int {
        self.state.withLock { state in
            state.clients += 1
            return state.log.lastNumber
        }
    }

    /// Notes that a client has gone.
    ///
    /// - Returns: the number of the absence that this begins, if it was the last client.
    func leave() -> Int? {
        self.state.withLock { state in
            state.clients -= 1
            if state.clients > 0 { return nil }
            state.absences += 1
            return state.absences
        }
    }

    /// Whether no client has come since an absence began.
    func isUnused(since absence: Int) -> Bool {
        self.state.withLock { $0.clients == 0 && $0.absences == absence }
    }

    /// Ends the subscription.
    func cancel() { self.messages.cancel() }

    /// Sends a client the messages after the last that it has seen, as they come.
    ///
    /// - Parameters:
    ///   - number: the number of the last message before the client came.
    ///   - lastID: the ID of the one that it has seen before; nil for a client that wants what comes from now
    ///     on.
    ///   - sink: the client.
    func send(after number: Int, or lastID: String?, to sink: EventSink) async {
        var cursor = number
        if let lastID {
            let parts = lastID.split(separator: "-")
            if parts.count == 2, parts[0] == self.epoch, let number = Int(parts[1]), number <= cursor {
                cursor = number
            } else {
                // It saw another feed, of which nothing is known.
                await sink.send(ServerSentEvent("gap", Array("{\"missed\":null}".utf8)))
                cursor = self.state.withLock { $0.log.firstNumber - 1 }
            }
        }
        while !Task.isCancelled {
            switch self.state.withLock({ $0.log.read(after: cursor) }) {
            case .events(let events):
                for event in events {
                    cursor += 1
                    await sink.send(ServerSentEvent("message", id: "\(self.epoch)-\(cursor)", event))
                }
            case .gap(let missed):
                cursor += missed
                let id = "\(self.epoch)-\(cursor)"
                await sink.send(ServerSentEvent("gap", id: id, Array("{\"missed\":\(missed)}".utf8)))
            case .nothing: await self.wait(after: cursor)
            case .end: return await sink.send(.end)
            }
        }
    }

    private func wait(after cursor: Int) async {
        let number = self.state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = self.state.withLock { state in
                    guard case .nothing = state.log.read(after: cursor), !Task.isCancelled else {
                        return false
                    }
                    state.waiting[number] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            self.state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    /// A message as clients get it; what cannot be JSON is left out.
    private func json(of message: Message) -> [UInt8] {
        if let source = self.name.source {
            return CloudEvent(message, of: self.name.pattern, from: source).structured
        }
        let parameters = message.parameters
        var values: [String: any Sendable] = parameters.query
        for (name, text) in parameters.path { values[name] = text }
        for (name, value) in parameters.passedValues { values[name] = value }
        var members: [String: any Sendable] = ["url": message.address.text, "id": "\(message.id)"]
        members["parameters"] = values.filter { (try? JSONWriter.encoded($0.value)) != nil }
        if let payload = message.payload, (try? JSONWriter.encoded(payload)) != nil {
            members["payload"] = payload
        }
        // Each value has been encoded once.
        return (try? JSONWriter.encoded(members)) ?? []
    }
}

/// The last events of a feed, numbered from 1.
struct EventLog: Sendable {
    private let limit: Int
    private var events: [[UInt8]] = []
    /// The number of the oldest event that is kept.
    private(set) var firstNumber = 1
    private var isOver = false

    init(limit: Int) { self.limit = max(1, limit) }

    /// The number of the latest event; 0 before the first.
    var lastNumber: Int { self.firstNumber + self.events.count - 1 }

    /// What there is for a reader.
    enum Reading: Equatable {
        case events([[UInt8]])
        /// So many events are not kept any more.
        case gap(Int)
        case nothing
        case end
    }

    mutating func append(_ event: [UInt8]) {
        self.events.append(event)
        if self.events.count > self.limit {
            self.events.removeFirst()
            self.firstNumber += 1
        }
    }

    mutating func end() { self.isOver = true }

    /// What comes after the event of a number.
    func read(after number: Int) -> Reading {
        if number + 1 < self.firstNumber { return .gap(self.firstNumber - number - 1) }
        if number < self.lastNumber { return .events(Array(self.events[(number + 1 - self.firstNumber)...])) }
        return self.isOver ? .end : .nothing
    }
}
#endif
