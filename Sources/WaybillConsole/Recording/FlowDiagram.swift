#if HTTP
internal import Waybill
internal import WaybillJSON
internal import WaybillRouting

/// A flow (a message and all messages that it caused) as events between participants, for a diagram.
struct FlowDiagram {
    struct Event: Equatable {
        let time: Double
        let id: CorrelationID
        let kind: String
        let from: String
        let to: String
        let url: String?
        let text: String
        let cause: CorrelationID?
        let duration: Int?
    }

    /// The name of the sender if no handler sent the message.
    static let caller = "caller"
    /// The name of the sender if the message that caused the message was not recorded.
    static let unrecorded = "sender (not recorded)"

    let root: CorrelationID
    let dropped: Int
    private(set) var participants: [String] = []
    private(set) var events: [Event] = []

    init?(_ flow: RecordedFlow) {
        guard let root = flow.messages.first?.id else { return nil }
        self.root = root
        self.dropped = flow.dropped
        let names = Dictionary(flow.messages.map { ($0.id, $0.participant) }) { first, _ in first }
        // Two loops possibly recorded their events in the wrong order.
        let ordered = flow.events.enumerated().sorted {
            ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
        }
        for (_, event) in ordered {
            let message = flow.messages[event.message]
            let source = message.cause.map { names[$0] ?? Self.unrecorded } ?? Self.caller
            let isForward = event.kind == .message || event.kind == .answer
            let (from, to) = isForward ? (source, message.participant) : (message.participant, source)
            for name in [from, to] where !self.participants.contains(name) { self.participants.append(name) }
            self.events.append(
                Event(
                    time: event.time,
                    id: message.id,
                    kind: event.kind == .message ? message.kind.rawValue : event.kind.rawValue,
                    from: from,
                    to: to,
                    url: event.kind == .message ? message.url : nil,
                    text: event.text,
                    cause: message.cause,
                    duration: event.duration
                )
            )
        }
    }

    var mermaid: String {
        var lines = ["sequenceDiagram"]
        var numbers: [String: Int] = [:]
        for (number, name) in self.participants.enumerated() {
            numbers[name] = number
            lines.append("    participant P\(number) as \(name.escapedForMermaid)")
        }
        for event in self.events {
            let label = [event.url, event.text].compactMap(\.self).filter { !$0.isEmpty }.joined(
                separator: " "
            )
            let (from, to) = (numbers[event.from] ?? 0, numbers[event.to] ?? 0)
            let text = label.isEmpty ? event.kind : label.escapedForMermaid
            lines.append("    P\(from)\(Self.arrow(of: event.kind))P\(to): \(text)")
        }
        if self.dropped > 0 { lines.append("    Note over P0: \(self.dropped) not shown") }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func arrow(of kind: String) -> String {
        switch kind {
        case "request", "answer": "->>"
        case "progress", "reply": "-->>"
        case "failure": "--x"
        default: "-)"
        }
    }

    /// The diagram as JSON, for the page of the console.
    var json: [UInt8] {
        var json = JSONFields()
        json.add("root", "\(self.root)")
        json.add("participants", self.participants)
        json.add("events", items: self.events) { event, json in
            json.add("time", event.time)
            json.add("id", "\(event.id)")
            json.add("kind", event.kind)
            json.add("from", event.from)
            json.add("to", event.to)
            json.add("url", event.url)
            json.add("text", event.text)
            json.add("cause", event.cause.map { "\($0)" })
            json.add("duration", event.duration)
        }
        json.add("mermaid", self.mermaid)
        json.add("dropped", self.dropped)
        return json.bytes
    }
}
#endif
