#if HTTP
internal import Waybill

/// A message as the console keeps it: descriptions instead of values.
struct RecordedMessage: Sendable {
    let id: CorrelationID
    /// Seconds since the console was made.
    let time: Double
    let url: String
    let pattern: String?
    let module: String?
    let origin: String
    let node: String?
    /// The message whose handler sent this one.
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

    /// How many changes of messages there had been when this one changed last.
    var revision = 0
    /// The readers whose pattern matches the message, and the readers that have received it, as bits.
    var readers: UInt32 = 0
    var shownTo: UInt32 = 0

    /// How the message stands: `waiting`, `replied` or `failed`.
    var state: String { self.failure != nil ? "failed" : self.isReplied ? "replied" : "waiting" }

    /// Its name in a diagram.
    var participant: String {
        if let module { return ModuleName(module).stem }
        return self.pattern ?? "no route"
    }

    /// About how many bytes it occupies.
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
    /// Which message of the flow.
    let message: Int
    let time: Double
    let text: String
    let duration: Int?

    var size: Int { 96 + self.text.utf8.count }
}

/// A message that no recorded message caused, together with all messages that it caused.
struct RecordedFlow: Sendable {
    let number: Int
    /// The pattern of its first message, by which it is evicted.
    let route: String
    var messages: [RecordedMessage] = []
    var events: [FlowEvent] = []
    /// Messages and events that were counted and not kept.
    var dropped = 0
    var size = 256
}
#endif
