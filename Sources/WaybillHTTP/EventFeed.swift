#if HTTP
internal import NIOCore
internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

/// The messages of one pattern in one format, for any number of clients.
///
/// A feed has one subscription on the bus. The feed keeps the latest messages, so that a client that connects
/// again receives the messages that it has missed.
final class EventFeed: Sendable {
    let name: FeedName
    private let messages: SubscriptionSequence
    /// A random prefix of event IDs, which is different for an earlier feed with the same name.
    private let epoch = String(UInt32.random(in: .min ... .max), radix: 16)
    private let store: EventStore
    private let state: Locked<State>

    private struct State {
        var log: EventLog
        var clients = 0
        /// Whether a client may know the ID of an event, with which the client could resume the feed.
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
            let missed = self.messages.takeMissed()
            self.change { state in
                state.log.skip(missed)
                state.log.append(event)
            }
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

    /// Adds a client, and returns the number of the last message before the client was added.
    func enter() -> Int {
        self.state.withLock { state in
            state.clients += 1
            return state.log.lastNumber
        }
    }

    /// Removes a client, and returns whether the client was the last client.
    func leave() -> Bool {
        self.state.withLock { state in
            state.clients -= 1
            return state.clients == 0
        }
    }

    /// Whether a client could resume the feed, because the client may know the ID of an event.
    var isResumable: Bool { self.state.withLock { $0.isResumable } }

    /// Ends the subscription.
    func cancel() { self.messages.cancel() }

    /// Sends messages to a client until the subscription ends or the client leaves.
    ///
    /// `number` is the number of the last message before the client was added. `lastID` is the ID of the last
    /// event that the client has received; it is nil for a client that needs only new messages. The address
    /// of the client is nil if it is unknown.
    func send(after number: Int, or lastID: String?, to sink: EventSink, of client: String?) async {
        var cursor = number
        if let lastID {
            if let seen = self.number(in: lastID), seen <= cursor {
                cursor = seen
            } else {
                // The ID does not belong to this feed, so the client receives only new messages.
                await self.sendGap(nil, cursor, to: sink)
            }
        }
        while !Task.isCancelled {
            switch self.state.withLock({ $0.log.read(after: cursor) }) {
            case .events(let events): await self.send(events, after: &cursor, to: sink, of: client)
            case .gap(let missed):
                cursor += missed
                await self.sendGap(missed, cursor, to: sink)
            case .nothing: await self.wait(after: cursor)
            case .end: return await sink.send(.end)
            }
        }
    }

    private func send(
        _ events: [FeedEvent?],
        after cursor: inout Int,
        to sink: EventSink,
        of client: String?
    ) async {
        var missed = 0
        for event in events {
            cursor += 1
            guard let loan = event?.lend(to: client) else {
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

    /// Informs a client about the number of messages that it has missed; nil if the number is unknown.
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

    /// Returns the event for a message, without values that cannot be encoded as JSON.
    private func event(of message: Message) -> FeedEvent {
        var start = JSONWriter()
        guard let source = self.name.source?.text else {
            start.raw("{")
            start.name("id", isFirst: true)
            start.string("\(message.id)")
            start.name("url")
            start.string(message.address.text)
            return self.event(of: message, start, parametersNamed: "parameters")
        }
        if let event = CloudEvent(carriedBy: message) {
            start.attributes(of: event)
            return self.event(of: message, start.bytes[...], keepsComma: true, .data) {
                var event = event
                event.data = event.carriedData(of: message)
                $0.data(of: event)
            }
        }
        start.attributes(of: CloudEvent(attributesOf: message, of: self.name.pattern.text, from: source))
        guard let payload = message.rawPayload else {
            return self.event(of: message, start, parametersNamed: "data")
        }
        return self.event(of: message, start.bytes[...], keepsComma: true, .data) {
            $0.member("data", payload)
        }
    }

    /// Returns an event that begins with `start`, followed by the parameters and the payload of the message.
    private func event(
        of message: Message,
        _ start: JSONWriter,
        parametersNamed name: String
    ) -> FeedEvent {
        let values = message.parameters.passedValues
        // A passed value has precedence over a value of the URL. Passed values are in the part that all feeds
        // share.
        let own = message.parameters.query.merging(message.parameters.path) { _, text in text }
            .filter { values[$0.key] == nil }
        var start = start
        start.name(name)
        start.object(own)
        // The object has no closing brace yet, because the parameters in the shared part follow.
        let open = start.bytes.dropLast()
        return self.event(of: message, open, keepsComma: !own.isEmpty, .values) {
            for (name, value) in values.sorted(by: { $0.key < $1.key }) { $0.member(name, value) }
            $0.raw("}")
            if let payload = message.rawPayload { $0.member("payload", payload) }
        }
    }

    /// Returns an event whose last members are in a part that the event shares with events of other feeds.
    ///
    /// `writeRest` writes the shared members. `keepsComma` tells whether the event needs the comma before the
    /// first shared member.
    private func event(
        of message: Message,
        _ start: ArraySlice<UInt8>,
        keepsComma: Bool,
        _ kind: EventStore.PartKind,
        writeRest: (inout JSONWriter) -> Void
    ) -> FeedEvent {
        let rest = self.store.part(kind, of: message.sharedContent) {
            var writer = JSONWriter()
            writeRest(&writer)
            writer.raw("}")
            var bytes = ByteBuffer()
            bytes.writeBytes(JSONLine.joined(writer.bytes[...]))
            bytes.writeString("\n")
            return bytes
        }
        var bytes = ByteBuffer(string: "event: message\ndata: ")
        bytes.writeBytes(JSONLine.joined(start))
        return FeedEvent(start: self.store.add(bytes), keepsComma: keepsComma, rest: rest)
    }
}

extension JSONWriter {
    /// Appends a member, unless its value cannot be encoded.
    fileprivate mutating func member(_ name: String, _ value: any Sendable) {
        guard let json = try? JSONWriter.encoded(value) else { return }
        self.name(name)
        self.raw(json[...])
    }
}

/// One event of a feed, without its ID.
struct FeedEvent: Sendable {
    fileprivate let start: EventStore.Part
    /// Whether the event needs a comma at the beginning of `rest`, because a member precedes `rest`.
    fileprivate let keepsComma: Bool
    /// The part that this event shares with events of other feeds.
    fileprivate let rest: EventStore.Part

    /// Returns the event, so that it can be written to a client.
    ///
    /// Returns nil when the bytes of the event have been dropped, or too many bytes are being written.
    fileprivate func lend(to client: String?) -> LentEvent? {
        guard let start = self.start.lend(to: client), let rest = self.rest.lend(to: client) else {
            return nil
        }
        let hasComma = rest.bytes.readableBytesView.first == UInt8(ascii: ",")
        return LentEvent(start: start, rest: rest, restOffset: hasComma && !self.keepsComma ? 1 : 0)
    }
}

/// An event that is being written to a client.
private struct LentEvent {
    let start: EventStore.Loan
    let rest: EventStore.Loan
    /// The number of bytes of `rest` to skip.
    let restOffset: Int

    /// The largest size of an event whose parts are copied into one buffer.
    private static let smallSize = 4096

    /// Returns the buffers to write, in order.
    ///
    /// The last buffer of a large event contains only the last line break. When this buffer can be written,
    /// the connection no longer needs the bytes before it.
    func event(withID id: String) -> [ByteBuffer] {
        var event = ByteBuffer(string: "id: \(id)\n")
        var rest = self.rest.bytes
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

/// The latest events of a feed, numbered from 1.
struct EventLog: Sendable {
    private let limit: Int
    /// The events; nil for a message that the feed has missed.
    private var events: [FeedEvent?] = []
    /// The number of the oldest event that is kept.
    private(set) var firstNumber = 1
    private var isOver = false

    init(limit: Int) { self.limit = max(1, limit) }

    /// The number of the latest event; 0 before the first event.
    var lastNumber: Int { self.firstNumber + self.events.count - 1 }

    /// The result of reading the log.
    enum Reading {
        /// The events after the number; nil for a message that the feed has missed.
        case events([FeedEvent?])
        /// The number of events that have been dropped.
        case gap(Int)
        case nothing
        case end
    }

    /// Records that the feed has missed a number of messages.
    mutating func skip(_ missed: Int) {
        guard missed >= self.limit else {
            for _ in 0..<missed { self.append(nil) }
            return
        }
        let last = self.lastNumber + missed
        self.events = Array(repeating: nil, count: self.limit)
        self.firstNumber = last - self.limit + 1
    }

    /// Appends an event; nil for a message that the feed has missed.
    mutating func append(_ event: FeedEvent?) {
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
