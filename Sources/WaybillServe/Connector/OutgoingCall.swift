internal import Waybill
internal import WaybillJSON
internal import WaybillRouting

/// A message on its way to another process: all of it is encoded before a byte is sent.
struct OutgoingCall: Sendable {
    /// Where a server sends the value for a return URL.
    static let returnURL = "caller://return"

    private let url: String
    private let parameters: [String: JSONText]
    private let attachment: RPCAttachment
    /// Whether the value goes to a return URL of this process.
    let hasReturnURL: Bool

    /// Encodes a message.
    ///
    /// - Throws: `notTransferable`, with the name of the value.
    init(_ message: Message) throws(RoutingError) {
        let url = message.address.text
        self.hasReturnURL = message.returnURL != nil
        // The URL in the fragment is this process's: the value comes back, and is routed on from here.
        self.url = self.hasReturnURL ? "\(url.prefix { $0 != "#" })#\(Self.returnURL)" : url
        var parameters: [String: JSONText] = [:]
        for (name, value) in message.parameters.call {
            parameters[name] = try Self.encoded(value, "the parameter \(name)", url)
        }
        self.parameters = parameters
        var attachment = RPCAttachment()
        attachment.headers = message.headers
        attachment.hops = message.hops + 1
        attachment.wantsProgress = true
        attachment.answersProgress = true
        attachment.correlationID = message.correlationID
        if let payload = message.payload {
            attachment.payload = try Self.encoded(payload, "the payload", url)
        }
        self.attachment = attachment
    }

    private static func encoded(
        _ value: any Sendable,
        _ name: String,
        _ url: String
    ) throws(RoutingError) -> JSONText {
        do throws(RoutingError) {
            return try JSONText(encoding: value)
        } catch {
            throw RoutingError(error.code, url: url, message: "\(name): \(error.message)", cause: error.cause)
        }
    }

    /// The text of the request.
    func request(_ id: Int, timeLeft: Duration?) -> [UInt8] {
        var attachment = self.attachment
        attachment.timeLeft = timeLeft
        var writer = JSONWriter(capacity: 256)
        writer.raw("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":")
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
}
