internal import WaybillJSON

// Messages that go out as one: what is published faster than a connection takes it waits for that, and
// neighbours to one subject cost one message of the server's. They are JSON values, and go as an array of
// them.

/// A message that waits for a connection, with those that have joined it.
struct OutgoingMessage: Sendable {
    let subject: String
    /// The subject of the last one's answer.
    private(set) var reply: String?
    let headers: [(name: String, value: String)]
    private let mayJoin: Bool
    private var bytes: [UInt8]
    private var count = 1

    /// How many go as one at most, and with how many bytes.
    static let countLimit = 64
    static let byteLimit = 1 << 15

    init(
        _ subject: String,
        reply: String?,
        _ payload: [UInt8],
        headers: [(name: String, value: String)] = [],
        mayJoin: Bool
    ) {
        self.subject = subject
        self.reply = reply
        self.headers = headers
        self.mayJoin = mayJoin && headers.isEmpty
        self.bytes = payload
    }

    /// How many bytes it has with those that have joined it.
    var size: Int { self.bytes.count + TransportMessage.size(of: self.headers) }

    var payload: [UInt8] { self.count == 1 ? self.bytes : self.bytes + CollectionOfOne(UInt8(ascii: "]")) }

    /// Whether a later message can go out with this one.
    ///
    /// - Parameters:
    ///   - next: the message.
    ///   - limit: the most bytes of both.
    /// - Returns: whether it can.
    func takes(_ next: Self, limit: Int) -> Bool {
        self.mayJoin && next.mayJoin && self.count < Self.countLimit && self.subject == next.subject
            && self.bytes.count + next.bytes.count + "[,]".utf8.count <= min(limit, Self.byteLimit)
    }

    /// Takes a later message with it.
    mutating func take(_ next: Self) {
        if self.count == 1 { self.bytes.insert(UInt8(ascii: "["), at: 0) }
        self.bytes.append(UInt8(ascii: ","))
        self.bytes += next.bytes
        self.reply = next.reply
        self.count += 1
    }
}

extension TransportMessage {
    /// What was to be sent, as it would have come.
    init(_ message: OutgoingMessage) {
        self.init(
            subject: message.subject,
            reply: message.reply,
            payload: message.payload,
            headers: message.headers
        )
    }

    /// How many messages are taken out of one at most.
    private static let partLimit = 1024

    /// How deep the array of them may be: each is judged by itself, and must not have others lost with it.
    private static let depthLimit = 512

    /// The messages that have gone out as this one: itself, unless it is an array of several.
    var parts: [TransportMessage] {
        guard self.headers.isEmpty, self.payload.first == UInt8(ascii: "["),
            let elements = (try? JSONText(self.payload).validated(depthLimit: Self.depthLimit))?.elements,
            (1...Self.partLimit).contains(elements.count)
        else { return [self] }
        return elements.enumerated().map { index, element in
            var part = TransportMessage(
                subject: self.subject,
                reply: self.reply,
                payload: Array(element.slice)
            )
            part.following = elements.count - 1 - index
            return part
        }
    }
}
