// Messages that go out as one: what is published faster than a connection takes it waits for that, and
// neighbours to one subject cost one message of the server's.

/// A message that waits for a connection, with those that have joined it.
struct OutgoingMessage: Sendable {
    let subject: String
    /// The subject of the last one's answer.
    private(set) var reply: ReplySubject?
    let headers: [(name: String, value: String)]
    /// What stands around all; nil if it goes by itself.
    private let envelope: MessageEnvelope?
    /// What is sent.
    private(set) var payload: [UInt8]
    private var count = 1

    /// How many go as one at most, and with how many bytes.
    static let countLimit = 64
    private static let fewCount = 4
    static let byteLimit = 1 << 15

    init(
        _ subject: String,
        reply: ReplySubject?,
        _ payload: [UInt8],
        in envelope: MessageEnvelope?,
        headers: [(name: String, value: String)] = []
    ) {
        self.subject = subject
        self.reply = reply
        self.headers = headers
        self.envelope = envelope
        self.payload = envelope?.with(payload) ?? payload
    }

    /// How many bytes it has with those that have joined it.
    var size: Int { self.payload.count + TransportMessage.size(of: self.headers) }

    /// Takes a later message with it, if they can go as one.
    ///
    /// - Parameters:
    ///   - message: The later message.
    ///   - envelope: What stands around it.
    ///   - subject: Its subject.
    ///   - reply: The subject of its answer.
    ///   - limit: The most bytes of both.
    ///   - spares: Memory for many.
    /// - Returns: Whether it has.
    mutating func take(
        _ message: [UInt8],
        in envelope: MessageEnvelope,
        to subject: String,
        reply: ReplySubject?,
        limit: Int,
        _ spares: SpareBuffers
    ) -> Bool {
        guard self.count < Self.countLimit, self.envelope == envelope, self.subject == subject else {
            return false
        }
        let limit = min(limit, Self.byteLimit)
        guard self.payload.count + ",".utf8.count + message.count <= limit else { return false }
        if self.count == Self.fewCount {
            // Where several wait more will; many pairs must not have memory for as many.
            var room = spares.take(limit)
            room += self.payload
            self.payload = room
        }
        self.payload.removeLast(envelope.end.count)
        self.payload.append(UInt8(ascii: ","))
        self.payload += message
        self.payload += envelope.end
        self.reply = reply
        self.count += 1
        return true
    }
}
