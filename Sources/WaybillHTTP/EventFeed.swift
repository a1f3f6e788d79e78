#if HTTP
internal import NIOCore
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
    private let store: EventStore
    private let state: Locked<State>

    private struct State {
        var log: EventLog
        var clients = 0
        /// Whether a client may know the ID of an event, with which it could come back.
        var isResumable = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter = 0

        mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
            defer { self.waiting = [:] }
            return Array(self.waiting.values)
        }
    }

    init(_ name: FeedName, _ messages: SubscriptionSequence, limit: Int, _ store: EventStore) {
        self.name = name
        self.messages = messages
        self.store = store
        self.state = Locked(State(log: EventLog(limit: limit)))
    }

    /// Reads the messages, until the subscription ends.
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
    /// - Returns: whether it was the last client.
    func leave() -> Bool {
        self.state.withLock { state in
            state.clients -= 1
            return state.clients == 0
        }
    }

    /// Whether a client may come back, since it may know the ID of an event.
    var isResumable: Bool { self.state.withLock { $0.isResumable } }

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
            if let seen = self.number(in: lastID), seen <= cursor {
                cursor = seen
            } else {
                // It saw another feed, or none, so it gets no message of this one that came before it.
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

    /// Tells a client how many events it cannot get, or that this is not known.
    private func sendGap(_ missed: Int?, _ cursor: Int, to sink: EventSink) async {
        let data = "{\"missed\":\(missed.map(String.init) ?? "null")}"
        await sink.send(ServerSentEvent("gap", id: self.id(of: cursor), Array(data.utf8)))
    }

    /// The ID of an event, which a client gets.
    private func id(of number: Int) -> String {
        self.state.withLock { $0.isResumable = true }
        return "\(self.epoch)-\(number)"
    }

    /// The number in an ID of this feed; nil for any other text.
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

    /// A message as clients get it; a value that cannot be JSON is left out.
    private func event(of message: Message) -> FeedEvent {
        var start = ByteBuffer(string: "event: message\ndata: ")
        if let source = self.name.source?.text {
            start.writeLine(CloudEvent(message, of: self.name.pattern.text, from: source).structured)
            start.writeString("\n")
            return FeedEvent(start: self.store.add(start), hasOwnParameters: false, rest: nil)
        }
        let values = message.parameters.passedValues
        let rest = self.store.part(for: message.sharedContent) { Self.rest(values, message.payload) }
        // A value that was passed counts, and is in the part that all feeds share.
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
        // The object stays open for the parameters of the shared part.
        start.writeLine(writer.bytes.dropLast())
        return FeedEvent(start: self.store.add(start), hasOwnParameters: !own.isEmpty, rest: rest)
    }

    /// The rest of an event: parameters, each behind a comma, the end of their object, and the payload.
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
    /// Appends JSON as one line: in JSON, a line break is only white space.
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
    /// Whether the start has parameters, so that a comma stands before the parameters of the rest.
    fileprivate let hasOwnParameters: Bool
    /// The part that the events of other feeds have in common with this one.
    fileprivate let rest: EventStore.Part?

    /// The event, to be written to a client; nil if its bytes are not kept any more, or too many are on their
    /// way.
    fileprivate func lend() -> LentEvent? {
        guard let start = self.start.lend() else { return nil }
        guard let rest = self.rest else { return LentEvent(start: start, rest: nil, restOffset: 0) }
        guard let rest = rest.lend() else { return nil }
        let hasComma = rest.bytes.readableBytesView.first == UInt8(ascii: ",")
        return LentEvent(start: start, rest: rest, restOffset: hasComma && !self.hasOwnParameters ? 1 : 0)
    }
}

/// An event while it is written to a client.
private struct LentEvent {
    let start: EventStore.Loan
    let rest: EventStore.Loan?
    /// How many bytes of the rest are left out.
    let restOffset: Int

    /// Events up to this size are copied and written at once.
    private static let smallSize = 4096

    /// The buffers to write, one after the other.
    ///
    /// The last buffer of a large event is only its last line break: when that can be written, the connection
    /// does not keep the bytes before it any more.
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
    /// The number of the oldest event that is kept.
    private(set) var firstNumber = 1
    private var isOver = false

    init(limit: Int) { self.limit = max(1, limit) }

    /// The number of the latest event; 0 before the first.
    var lastNumber: Int { self.firstNumber + self.events.count - 1 }

    /// What there is for a reader.
    enum Reading {
        case events([FeedEvent])
        /// So many events are not kept any more.
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

    /// What comes after the event of a number.
    func read(after number: Int) -> Reading {
        if number + 1 < self.firstNumber { return .gap(self.firstNumber - number - 1) }
        if number < self.lastNumber { return .events(Array(self.events[(number + 1 - self.firstNumber)...])) }
        return self.isOver ? .end : .nothing
    }
}
#endif
