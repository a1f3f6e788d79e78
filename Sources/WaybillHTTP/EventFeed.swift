#if HTTP
internal import NIOCore
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The messages of one pattern in one format, for any number of clients.
///
/// A feed has one subscription, and keeps the last messages for returning clients.
final class EventFeed: Sendable {
    let name: FeedName
    private let messages: SubscriptionSequence
    /// A random prefix of event IDs, which distinguishes this feed from an earlier one of the same name.
    private let epoch = String(UInt32.random(in: .min ... .max), radix: 16)
    private let store: EventStore
    private let state: Locked<State>

    private struct State {
        var log: EventLog
        var clients = 0
        /// Whether a client may know the ID of an event, with which it could resume the feed.
        var isResumable = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter = 0

        mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
            defer { self.waiting = [:] }
            return Array(self.waiting.values)
        }
    }

    init(_ name: FeedName, messages: SubscriptionSequence, limit: Int, store: EventStore) {
        self.name = name
        self.messages = messages
        self.store = store
        self.state = Locked(State(log: EventLog(limit: limit)))
    }

    /// Appends the messages of the subscription to the log, until the subscription ends.
    func run() async {
        for await message in self.messages {
            let event = self.event(of: message)
            self.change { $0.log.append(event) }
        }
        self.change { $0.log.end() }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiting = self.state.withLock { state in
            body(&state)
            return state.takeWaiting()
        }
        for continuation in waiting { continuation.resume() }
    }

    /// The number of the latest message.
    var lastNumber: Int { self.state.withLock { $0.log.lastNumber } }

    /// Adds a client.
    ///
    /// - Returns: The number of the last message before the client.
    func enter() -> Int {
        self.state.withLock { state in
            state.clients += 1
            return state.log.lastNumber
        }
    }

    /// Removes a client.
    ///
    /// - Returns: Whether it was the last client.
    func leave() -> Bool {
        self.state.withLock { state in
            state.clients -= 1
            return state.clients == 0
        }
    }

    /// Whether a client could resume the feed, because it may know the ID of an event.
    var isResumable: Bool { self.state.withLock { $0.isResumable } }

    /// Ends the subscription.
    func cancel() { self.messages.cancel() }

    /// Sends a client the messages after the last one that it has received, until the subscription or the
    /// client ends.
    ///
    /// - Parameters:
    ///   - number: The number of the last message before the client joined.
    ///   - lastID: The ID of the last event that the client has received; nil for a client that wants only
    ///     new messages.
    ///   - sink: The events for the client.
    func send(after number: Int, or lastID: String?, to sink: EventSink) async {
        var cursor = number
        if let lastID {
            if let seen = self.number(in: lastID), seen <= cursor {
                cursor = seen
            } else {
                // The ID is not from this feed, so the client receives only messages from now on.
                await self.sendGap(nil, cursor, to: sink)
            }
        }
        while !Task.isCancelled {
            switch self.state.withLock({ $0.log.read(after: cursor) }) {
            case .events(let events): await self.send(events, after: &cursor, to: sink)
            case .gap(let missed):
                cursor += missed
                await self.sendGap(missed, cursor, to: sink)
            case .nothing: await self.wait(after: cursor)
            case .end: return await sink.send(.end)
            }
        }
    }

    private func send(_ events: [FeedEvent], after cursor: inout Int, to sink: EventSink) async {
        var missed = 0
        for event in events {
            cursor += 1
            guard let loan = event.lend() else {
                missed += 1
                continue
            }
            if missed > 0 { await self.sendGap(missed, cursor - 1, to: sink) }
            missed = 0
            await sink.send(loan.event(withID: self.id(of: cursor)))
            withExtendedLifetime(loan) {}
        }
        if missed > 0 { await self.sendGap(missed, cursor, to: sink) }
    }

    /// Sends a client the number of messages that it has missed; nil if the number is unknown.
    private func sendGap(_ missed: Int?, _ cursor: Int, to sink: EventSink) async {
        let data = "{\"missed\":\(missed.map(String.init) ?? "null")}"
        await sink.send(ServerSentEvent("gap", id: self.id(of: cursor), Array(data.utf8)))
    }

    /// Returns the ID of an event for a client.
    private func id(of number: Int) -> String {
        self.state.withLock { $0.isResumable = true }
        return "\(self.epoch)-\(number)"
    }

    /// Returns the number in an event ID of this feed, or nil for any other text.
    private func number(in id: String) -> Int? {
        let prefix = "\(self.epoch)-"
        guard id.utf8.starts(with: prefix.utf8) else { return nil }
        return Int(String(decoding: id.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)).flatMap {
            $0 < 0 ? nil : $0
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

    /// Returns the event for a message.
    ///
    /// Values that cannot be encoded as JSON are omitted.
    private func event(of message: Message) -> FeedEvent {
        var start = ByteBuffer(string: "event: message\ndata: ")
        if let source = self.name.source?.text {
            start.writeLine(CloudEvent(message, of: self.name.pattern.text, from: source).structured)
            start.writeString("\n")
            return FeedEvent(start: self.store.add(start), hasOwnParameters: false, rest: nil)
        }
        let values = message.parameters.passedValues
        let rest = self.store.part(for: message.sharedContent) { Self.rest(values, message.payload) }
        // A passed value has precedence, and is in the part that all feeds share.
        let own = message.parameters.query.merging(message.parameters.path) { _, text in text }
            .filter { values[$0.key] == nil }
        var writer = JSONWriter()
        writer.raw("{")
        writer.name("id", isFirst: true)
        writer.string("\(message.id)")
        writer.name("url")
        writer.string(message.address.text)
        writer.name("parameters")
        writer.object(own)
        // The object stays open for the parameters in the shared part.
        start.writeLine(writer.bytes.dropLast())
        return FeedEvent(start: self.store.add(start), hasOwnParameters: !own.isEmpty, rest: rest)
    }

    /// Returns the rest of an event: parameters, each after a comma, the end of their object, and the
    /// payload.
    private static func rest(_ values: [String: any Sendable], _ payload: (any Sendable)?) -> ByteBuffer {
        var writer = JSONWriter()
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let json = try? JSONWriter.encoded(value) else { continue }
            writer.name(name)
            writer.raw(json[...])
        }
        writer.raw("}")
        if let payload, let json = try? JSONWriter.encoded(payload) {
            writer.name("payload")
            writer.raw(json[...])
        }
        writer.raw("}")
        var bytes = ByteBuffer()
        bytes.writeLine(writer.bytes[...])
        bytes.writeString("\n")
        return bytes
    }
}

extension ByteBuffer {
    /// Appends JSON as one line.
    ///
    /// A line break in JSON is always white space.
    fileprivate mutating func writeLine(_ json: some Collection<UInt8>) {
        if json.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
            self.writeBytes(json.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
        } else {
            self.writeBytes(json)
        }
    }
}

/// One event of a feed, without its ID.
struct FeedEvent: Sendable {
    fileprivate let start: EventStore.Part
    /// Whether `start` contains parameters, so that a comma must precede the parameters in `rest`.
    fileprivate let hasOwnParameters: Bool
    /// The part that this event shares with events of other feeds.
    fileprivate let rest: EventStore.Part?

    /// Returns the event for a client to write, or nil when its bytes have been dropped or too many bytes are
    /// being written.
    fileprivate func lend() -> LentEvent? {
        guard let start = self.start.lend() else { return nil }
        guard let rest = self.rest else { return LentEvent(start: start, rest: nil, restOffset: 0) }
        guard let rest = rest.lend() else { return nil }
        let hasComma = rest.bytes.readableBytesView.first == UInt8(ascii: ",")
        return LentEvent(start: start, rest: rest, restOffset: hasComma && !self.hasOwnParameters ? 1 : 0)
    }
}

/// An event that is being written to a client.
private struct LentEvent {
    let start: EventStore.Loan
    let rest: EventStore.Loan?
    /// The number of bytes of `rest` to skip.
    let restOffset: Int

    /// The largest size of an event that is copied and written at once.
    private static let smallSize = 4096

    /// Returns the buffers to write, in order.
    ///
    /// The last buffer of a large event contains only its last line break. When that can be written, the
    /// connection has released the bytes before it.
    func event(withID id: String) -> [ByteBuffer] {
        var event = ByteBuffer(string: "id: \(id)\n")
        var rest = self.rest?.bytes ?? ByteBuffer()
        rest.moveReaderIndex(forwardBy: self.restOffset)
        let end = ByteBuffer(string: "\n")
        let parts = [self.start.bytes, rest, end]
        guard parts.reduce(0, { $0 + $1.readableBytes }) <= Self.smallSize else {
            return [event] + parts.filter { $0.readableBytes > 0 }
        }
        for part in parts { event.writeImmutableBuffer(part) }
        return [event]
    }
}

/// The last events of a feed, numbered from 1.
struct EventLog: Sendable {
    private let limit: Int
    private var events: [FeedEvent] = []
    /// The number of the oldest kept event.
    private(set) var firstNumber = 1
    private var isOver = false

    init(limit: Int) { self.limit = max(1, limit) }

    /// The number of the latest event; 0 before the first event.
    var lastNumber: Int { self.firstNumber + self.events.count - 1 }

    /// The result of reading the log.
    enum Reading {
        case events([FeedEvent])
        /// The number of events that have been dropped.
        case gap(Int)
        case nothing
        case end
    }

    mutating func append(_ event: FeedEvent) {
        self.events.append(event)
        if self.events.count > self.limit {
            self.events.removeFirst()
            self.firstNumber += 1
        }
    }

    mutating func end() { self.isOver = true }

    /// Returns the events after a number.
    func read(after number: Int) -> Reading {
        if number + 1 < self.firstNumber { return .gap(self.firstNumber - number - 1) }
        if number < self.lastNumber { return .events(Array(self.events[(number + 1 - self.firstNumber)...])) }
        return self.isOver ? .end : .nothing
    }
}
#endif
