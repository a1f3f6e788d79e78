// Joined messages. While publications and answers wait to be sent, consecutive ones to the same subject are
// joined. The server handles them as one message.

/// A message that waits to be sent, and the messages that have been joined with it.
struct OutgoingMessage: Sendable {
    let subject: String
    /// The subject for the answer to the last of the joined messages.
    private(set) var reply: ReplySubject?
    let headers: [(name: String, value: String)]
    /// The bytes around the messages; nil if the message cannot be joined with others.
    private let envelope: MessageEnvelope?
    /// The bytes to send.
    private(set) var payload: [UInt8]
    private var count = 1

    /// The maximum number of messages in a joined message.
    static let countLimit = 64
    /// The number of messages at which memory for a joined message of the maximum size is reserved.
    private static let fewCount = 4
    /// The maximum number of bytes of a joined message.
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

    /// The number of bytes in the payload and the headers.
    var size: Int { self.payload.count + TransportMessage.size(of: self.headers) }

    /// Appends a later message if the two messages can be joined, and returns whether it was appended.
    ///
    /// The joined message has at most `limit` bytes. `spares` provides memory for a long message.
    mutating func join(
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
            // More messages are likely to follow. For few messages, the reserved memory would be wasted.
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
