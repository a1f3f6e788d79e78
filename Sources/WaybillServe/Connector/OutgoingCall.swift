package import Waybill
package import WaybillJSON
package import WaybillRouting

/// A message on its way to another process: all of it is encoded before a byte is sent.
package struct OutgoingCall: Sendable {
    /// Where a server sends the value for a return URL.
    static let returnURL = "caller://return"

    private let url: String
    private let parameters: [(name: String, value: JSONText)]
    private let attachment: RPCAttachment
    /// Whether the value goes to a return URL of this process.
    package let hasReturnURL: Bool

    /// Encodes a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - forwardsReturn: Whether the peer sends the value for the return URL there by itself.
    /// - Throws: `notTransferable`, with the name of the value.
    package init(_ message: Message, forwardsReturn: Bool = false) throws(RoutingError) {
        let url = message.parameters.url
        self.hasReturnURL = message.returnURL != nil && !forwardsReturn
        // The URL in the fragment is this process's: the value comes back, and is routed on from here.
        self.url = self.hasReturnURL ? "\(url.prefix { $0 != "#" })#\(Self.returnURL)" : url
        var parameters: [(name: String, value: JSONText)] = []
        for (name, value) in message.parameters.passedValues {
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

    /// Returns the members beside the parameters, which do not depend on how the message is delivered.
    private static func attachment(
        of message: Message,
        forwardsReturn: Bool
    ) throws(RoutingError) -> RPCAttachment {
        var attachment = RPCAttachment()
        attachment.headers = message.headers
        attachment.hops = message.hops + 1
        attachment.correlationID = message.correlationID
        if forwardsReturn, message.returnURL != nil { attachment.returnID = message.id }
        if let payload = message.payload {
            attachment.payload = try Self.naming("the payload", url: message.parameters.url) {
                () throws(RoutingError) in try JSONText(encoding: payload)
            }
        }
        return attachment
    }

    /// Has the error of a value that cannot be encoded name it.
    private static func naming<Result>(
        _ name: @autoclosure () -> String,
        url: String,
        _ body: () throws(RoutingError) -> Result
    ) throws(RoutingError) -> Result {
        do throws(RoutingError) {
            return try body()
        } catch {
            let message = "\(name()): \(error.message)"
            throw RoutingError(error.code, url: url, message: message, cause: error.cause)
        }
    }

    /// About as many bytes as the text has.
    private var size: Int {
        self.parameters.reduce(384 + (self.attachment.payload?.range.count ?? 0)) {
            $0 + $1.name.utf8.count + $1.value.range.count
        }
    }

    /// The text of the request.
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

    /// Writes a publication as one of the messages of `$/publish`, which the peer does not answer; its values
    /// are encoded where they stand.
    ///
    /// - Parameters:
    ///   - message: The publication.
    ///   - timeLeft: How long its publisher waits.
    ///   - ownURL: Its URL, if that is not the one of all messages of the `$/publish`.
    ///   - writer: Where to.
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
            // It would say where the message goes, and on whose behalf.
            if name == RPCParameters.reservedKey {
                let sentence = "the parameter \(name) is reserved, and cannot be sent to another process"
                throw RoutingError(.notTransferable, url: message.parameters.url, message: sentence)
            }
            writer.name(name, isFirst: isFirst)
            try Self.naming("the parameter \(name)", url: message.parameters.url) { () throws(RoutingError) in
                try writer.value(value)
            }
            isFirst = false
        }
        // Most messages need only the members that all messages have.
        if timeLeft != nil || ownURL != nil || message.hasMore {
            var attachment = try Self.attachment(of: message, forwardsReturn: true)
            attachment.url = ownURL
            attachment.timeLeft = timeLeft
            writer.attachment(attachment, isFirst: isFirst)
        }
        writer.raw("}")
    }

    /// The beginning of a `$/publish` to a URL, up to its messages.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - hops: How many routes led to those messages that do not say it themselves.
    /// - Returns: The text; the messages follow, and ``endOfPublications``.
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

    /// The text of a notification about a request.
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
    /// Whether anything has to be said beside its parameters.
    fileprivate var hasMore: Bool {
        !self.headers.isEmpty || self.payload != nil || self.correlationID != nil || self.returnURL != nil
    }
}
