package import Waybill
package import WaybillJSON
package import WaybillRouting

/// A message to another process.
///
/// The values of the message are encoded before the first byte is sent.
package struct OutgoingCall: Sendable {
    /// The URL to which a server sends a value if the return URL of the message belongs to this process.
    static let returnURL = "caller://return"

    private let url: String
    private let parameters: [(name: String, value: JSONText)]
    private let attachment: RPCAttachment
    /// Whether the server sends the value for the return URL to this process, which then routes the value.
    package let hasReturnURL: Bool

    /// Creates a call by encoding a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - forwardsReturn: Whether the peer itself sends the value to the return URL.
    /// - Throws: `notTransferable`, with the name of the value.
    package init(_ message: Message, forwardsReturn: Bool = false) throws(RoutingError) {
        let url = message.address.completeURL
        self.hasReturnURL = message.returnURL != nil && !forwardsReturn
        // The return URL belongs to this process. The peer sends the value back, and this process routes the
        // value.
        self.url = self.hasReturnURL ? "\(url.prefix { $0 != "#" })#\(Self.returnURL)" : url
        var parameters: [(name: String, value: JSONText)] = []
        for (name, value) in message.parameters.passedValues {
            try Self.check(name, url: url)
            let text = try Self.naming("the parameter \(name)", url: url) { () throws(RoutingError) in
                try JSONText(encoding: value)
            }
            parameters.append((name, text))
        }
        self.parameters = parameters
        var attachment = try Self.attachment(of: message, forwardsReturn: forwardsReturn)
        attachment.wantsProgress = true
        attachment.answersProgress = true
        self.attachment = attachment
    }

    /// Returns the data that is sent in addition to the parameters, under the key `$waybill`.
    private static func attachment(
        of message: Message,
        forwardsReturn: Bool
    ) throws(RoutingError) -> RPCAttachment {
        var attachment = RPCAttachment()
        attachment.headers = message.headers
        attachment.hops = message.hops + 1
        attachment.correlationID = message.correlationID
        if forwardsReturn, message.returnURL != nil { attachment.returnID = message.id }
        if let payload = message.rawPayload {
            attachment.payload = try Self.naming("the payload", url: message.parameters.url) {
                () throws(RoutingError) in try JSONText(encoding: payload)
            }
        }
        return attachment
    }

    /// Rejects a parameter that the peer would read as the attachment, which can contain another URL.
    private static func check(_ name: String, url: String) throws(RoutingError) {
        guard name == RPCParameters.reservedKey else { return }
        let message = "the parameter \(name) is reserved, and cannot be sent to another process"
        throw RoutingError(.notTransferable, url: url, message: message)
    }

    /// Runs `body`, and prefixes the message of the error with the name of the value.
    private static func naming<Result>(
        _ name: @autoclosure () -> String,
        url: String,
        _ body: () throws(RoutingError) -> Result
    ) throws(RoutingError) -> Result {
        do throws(RoutingError) {
            return try body()
        } catch {
            throw error.naming(name(), at: url)
        }
    }

    /// The approximate number of bytes of the request.
    private var size: Int {
        self.parameters.reduce(384 + (self.attachment.payload?.range.count ?? 0)) {
            $0 + $1.name.utf8.count + $1.value.range.count
        }
    }

    /// Returns the text of the request.
    package func request(_ id: Int, timeLeft: Duration?) -> [UInt8] {
        var attachment = self.attachment
        attachment.timeLeft = timeLeft
        var writer = JSONWriter(capacity: self.size)
        writer.raw("{\"jsonrpc\":\"2.0\",\"id\":")
        writer.raw(String(id))
        writer.raw(",\"method\":")
        writer.string(self.url)
        writer.raw(",\"params\":{")
        var isFirst = true
        for (name, value) in self.parameters {
            writer.name(name, isFirst: isFirst)
            writer.raw(value)
            isFirst = false
        }
        writer.attachment(attachment, isFirst: isFirst)
        writer.raw("}}")
        return writer.bytes
    }

    /// Writes a publication as one of the messages of a `$/publish` notification.
    ///
    /// The values are encoded directly into the writer.
    ///
    /// - Parameters:
    ///   - message: The publication.
    ///   - timeLeft: The time that the publisher of the message still waits; nil for no limit.
    ///   - ownURL: The URL of the publication; nil if it is the URL of the whole `$/publish`.
    ///   - writer: The writer to append to.
    /// - Throws: `notTransferable`, with the name of the value.
    package static func write(
        publication message: Message,
        timeLeft: Duration?,
        ownURL: String?,
        to writer: inout JSONWriter
    ) throws(RoutingError) {
        writer.raw("{")
        var isFirst = true
        for (name, value) in message.parameters.passedValues {
            try Self.check(name, url: message.parameters.url)
            writer.name(name, isFirst: isFirst)
            try Self.naming("the parameter \(name)", url: message.parameters.url) { () throws(RoutingError) in
                try writer.value(value)
            }
            isFirst = false
        }
        // Most publications need no attachment, because they use the attachment of the whole `$/publish`.
        if timeLeft != nil || ownURL != nil || message.hasMore {
            var attachment = try Self.attachment(of: message, forwardsReturn: true)
            attachment.url = ownURL
            attachment.timeLeft = timeLeft
            writer.attachment(attachment, isFirst: isFirst)
        }
        writer.raw("}")
    }

    /// Returns the beginning of the text of a `$/publish` to a URL, which ends before the first message.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - hops: The number of routed messages that led to the publications. A message with an attachment of
    ///     its own has its own number.
    /// - Returns: The text. The caller appends the messages and ``endOfPublications``.
    package static func beginningOfPublications(to url: String, hops: Int) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw(
            "{\"jsonrpc\":\"2.0\",\"method\":\"\(SystemMethod.publish.rawValue)\",\"params\":{\"url\":"
        )
        writer.string(url)
        var attachment = RPCAttachment()
        attachment.hops = hops
        writer.attachment(attachment, isFirst: false)
        writer.raw(",\"messages\":[")
        return writer.bytes
    }

    package static let endOfPublications = Array("]}}".utf8)

    /// Returns the text of a notification about a request.
    package static func notification(
        _ method: SystemMethod,
        id: Int,
        answer: Result<JSONText, RPCFailure>?
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"jsonrpc\":\"2.0\",\"method\":\"\(method.rawValue)\",\"params\":{\"id\":\(id)")
        switch answer {
        case .success(let value):
            writer.name("value")
            writer.raw(value)
        case .failure(let failure):
            writer.name("error")
            writer.failure(failure)
        case nil: break
        }
        writer.raw("}}")
        return writer.bytes
    }
}

extension Message {
    /// Whether the message contains data that must be sent in addition to its parameters.
    fileprivate var hasMore: Bool {
        !self.headers.isEmpty || self.payload != nil || self.correlationID != nil || self.returnURL != nil
    }
}
