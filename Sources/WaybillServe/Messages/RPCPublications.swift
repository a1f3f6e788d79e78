internal import Waybill
internal import WaybillJSON
internal import WaybillRouting

/// The messages of one `$/publish` notification or request, which can contain several messages.
package struct RPCPublications: Sendable {
    /// The URL of each message that does not have its own URL.
    private let url: String
    /// The attachment of each message that does not have its own attachment.
    private let attachment: RPCAttachment
    /// The time from which the remaining time of each message counts.
    let arrival: ContinuousClock.Instant
    /// Whether each message may have its own attachment.
    ///
    /// Only the elements of the array `messages` may.
    private let areMessages: Bool
    /// The parameters of the messages that have not been removed; nil for a message without parameters.
    private var rest: ArraySlice<JSONNode?>
    /// The message that was removed last, and its size, until all subscribers have received the message.
    var undelivered: (publication: UnfinishedPublication, size: Int)?
    /// The work that the subscribers of all messages do together; nil if nobody counts it.
    var work: ExternalWork?

    /// The maximum number of messages in one `$/publish`.
    private static let limit = 1024

    /// Creates the messages from the parameters of `$/publish`.
    init(_ parameters: RPCParameters, arrivedAt arrival: ContinuousClock.Instant) throws(RPCFailure) {
        self.arrival = arrival
        self.url = try parameters.text("url")
        self.attachment = parameters.attachment
        let messages = parameters["messages"]
        self.areMessages = messages != nil
        guard let messages else {
            self.rest = [parameters["parameters"].flatMap { $0.isObject ? $0 : nil }]
            return
        }
        var elements: [JSONNode?] = []
        var areObjects = messages.isArray
        if areObjects {
            messages.forEachChild { element in
                if elements.count > Self.limit { return }
                elements.append(element)
                if !element.isObject { areObjects = false }
            }
        }
        guard areObjects, (1...Self.limit).contains(elements.count) else {
            throw .parameters("`messages` must be an array of 1 to \(Self.limit) objects")
        }
        self.rest = elements[...]
    }

    /// Creates the messages from a notification.
    ///
    /// Returns nil if the notification is not a valid `$/publish`.
    package init?(_ message: RPCMessage, arrivedAt arrival: ContinuousClock.Instant) {
        guard case .notification(SystemMethod.publish.rawValue, let params) = message.content,
            let parameters = try? RPCParameters(params)
        else { return nil }
        try? self.init(parameters, arrivedAt: arrival)
    }

    package var count: Int { self.rest.count }

    /// Whether all messages have been removed and delivered.
    package var isEmpty: Bool { self.rest.isEmpty && self.undelivered == nil }

    /// The memory that the remaining messages use, in bytes.
    var size: Int { self.rest.reduce(0) { $0 + ($1?.memoryOfParameters ?? 0) } }

    /// The memory that the next message uses, in bytes.
    var sizeOfNext: Int { (self.rest.first ?? nil)?.memoryOfParameters ?? 0 }

    /// The longest time for which a message may wait; nil if a message may wait without a limit.
    var timeLeft: Duration? {
        var longest: Duration?
        for node in self.rest {
            let own = self.areMessages ? node?[RPCParameters.reservedKey] : nil
            let attachment = own.flatMap { try? RPCAttachment($0) } ?? self.attachment
            guard let timeLeft = attachment.timeLeft else { return nil }
            longest = max(longest ?? timeLeft, timeLeft)
        }
        return longest
    }

    /// Drops all messages that have not been removed.
    mutating func dropRest() { self.rest = [] }

    /// The URLs of the remaining messages.
    package var urls: [String] {
        self.rest.map { node in
            let attachment = self.areMessages ? node.flatMap { try? RPCParameters($0).attachment } : nil
            return attachment?.url ?? self.url
        }
    }

    /// One message of the `$/publish`.
    struct Element {
        let url: String
        let values: PassedValues?
        let attachment: RPCAttachment
    }

    /// Removes and returns the next message.
    mutating func next() throws(RPCFailure) -> Element {
        guard let node = self.rest.removeFirst() else {
            return Element(url: self.url, values: nil, attachment: self.attachment)
        }
        let (values, reserved) = RPCParameters.content(of: node, hasReservedKey: self.areMessages)
        guard let reserved else { return Element(url: self.url, values: values, attachment: self.attachment) }
        let own = try RPCAttachment(reserved)
        return Element(url: own.url ?? self.url, values: values, attachment: own)
    }
}
