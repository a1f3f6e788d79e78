#if HTTP
internal import Waybill

/// A message in the form that the console keeps: texts that may be shown replace the message's values.
struct RecordedMessage: Sendable {
    let id: CorrelationID
    /// The time at which the message was sent, in seconds since the console was created.
    let time: Double
    let url: String
    let pattern: String?
    let module: String?
    let origin: String
    let node: String?
    /// The ID of the message whose handler sent this message.
    let cause: CorrelationID?
    let answers: CorrelationID?
    let kind: DeliveryKind
    let value: String?
    let parameters: [(name: String, shape: String)]

    var progress = 0
    var duration: Int?
    var reply: String?
    var failure: ShownFailure?
    var isReplied = false

    /// The recorder's revision at the last change of this message.
    var revision = 0
    /// The readers whose pattern matches the message's URL, and the readers that have received the message.
    ///
    /// A reader is an open page. Each reader has one bit.
    var readers: UInt32 = 0
    var shownTo: UInt32 = 0

    /// The state of the message: `waiting`, `replied` or `failed`.
    var state: String { self.failure != nil ? "failed" : self.isReplied ? "replied" : "waiting" }

    /// The name of the message's handler in a diagram.
    var participant: String {
        if let module { return ModuleName(module).stem }
        return self.pattern ?? "no route"
    }

    /// The approximate number of bytes that the message occupies.
    var size: Int {
        let texts = [self.url, self.pattern, self.module, self.origin, self.node, self.value]
        return 640 + texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
            + self.parameters.reduce(0) { $0 + 64 + $1.name.utf8.count + $1.shape.utf8.count }
    }
}

/// An event of a message in a flow.
struct FlowEvent: Sendable {
    enum Kind: String, Sendable {
        case message, progress, answer, reply, failure
    }

    let kind: Kind
    /// The index of the message in the flow.
    let message: Int
    let time: Double
    let text: String
    let duration: Int?

    var size: Int { 96 + self.text.utf8.count }
}

/// A message without a recorded cause, and all messages that it caused directly or indirectly.
struct RecordedFlow: Sendable {
    let number: Int
    /// The pattern of the first message.
    ///
    /// When memory is short, the recorder removes flows of the route whose flows occupy the most memory.
    let route: String
    var messages: [RecordedMessage] = []
    var events: [FlowEvent] = []
    /// The number of messages and events that were counted but not kept.
    var dropped = 0
    var size = 256
}
#endif
