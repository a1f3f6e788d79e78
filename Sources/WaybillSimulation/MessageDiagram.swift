internal import Waybill
internal import WaybillEventLoop

/// An event of a message in a run.
struct RecordedEvent: Sendable {
    enum Kind: Sendable {
        case message(String)
        case reply
        case failure(String)
    }

    let time: Duration
    let node: String
    let id: CorrelationID
    let cause: CorrelationID?
    let pattern: String?
    let kind: Kind
}

/// The messages of a run as a sequence diagram, as text and in Mermaid syntax.
struct MessageDiagram: Sendable {
    private let events: [RecordedEvent]
    private let omitted: Int
    /// The messages, numbered in the order of their first events, because their IDs differ from run to run.
    private let numbers: [CorrelationID: Int]

    /// The most events in a diagram.
    private static let limit = 60

    init(_ events: [RecordedEvent]) {
        // The last events lead to the failure.
        self.events = Array(events.suffix(Self.limit))
        self.omitted = max(0, events.count - Self.limit)
        var numbers: [CorrelationID: Int] = [:]
        for event in events where numbers[event.id] == nil { numbers[event.id] = numbers.count + 1 }
        self.numbers = numbers
    }

    /// One line for each message, reply and failure.
    var text: String {
        var lines = self.omitted > 0 ? ["  (\(self.omitted) earlier events are omitted)"] : []
        for event in self.events {
            let time = "\(event.time.milliseconds) ms".padded(to: 10)
            let number = self.number(event.id)
            switch event.kind {
            case .message(let url):
                let cause = event.cause.map { ", sent by \(self.number($0))" } ?? ""
                lines.append("  \(time)  \(event.node)  \(number) -> \(url)\(cause)")
            case .reply: lines.append("  \(time)  \(event.node)  \(number) <- reply")
            case .failure(let reason): lines.append("  \(time)  \(event.node)  \(number) <- \(reason)")
            }
        }
        return lines.joined(separator: "\n")
    }

    /// The diagram in Mermaid syntax.
    var mermaid: String {
        var (participants, lines) = ([String](), [String]())
        /// Returns the identifier of a participant, whose name may contain any character.
        func identifier(of name: String) -> String {
            if let number = participants.firstIndex(of: name) { return "P\(number)" }
            participants.append(name)
            return "P\(participants.count - 1)"
        }
        let receivers = Dictionary(
            self.events.map { ($0.id, Self.participant(of: $0)) },
            uniquingKeysWith: { first, _ in first }
        )
        for event in self.events {
            let sender = identifier(of: event.cause.flatMap { receivers[$0] } ?? "caller")
            let receiver = identifier(of: Self.participant(of: event))
            switch event.kind {
            case .message(let url): lines.append("    \(sender)->>\(receiver): \(url.escapedForMermaid)")
            case .reply: lines.append("    \(receiver)-->>\(sender): reply")
            case .failure(let reason):
                lines.append("    \(receiver)--x\(sender): \(reason.escapedForMermaid)")
            }
        }
        let names = participants.enumerated().map { "    participant P\($0) as \($1.escapedForMermaid)" }
        return (["sequenceDiagram"] + names + lines).joined(separator: "\n")
    }

    private static func participant(of event: RecordedEvent) -> String {
        "\(event.node)\(event.pattern.map { " \($0)" } ?? "")"
    }

    private func number(_ id: CorrelationID) -> String { self.numbers[id].map { "#\($0)" } ?? "#?" }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - self.count)) + self
    }
}

// Recording.
extension Simulator {
    /// Records the messages of a bus, if the run is recorded.
    ///
    /// The bus is observed in any case, because an observed bus delivers its messages in another way.
    func record(_ bus: MessageBus, of node: String) {
        let registration = bus.observe { [weak self] event in
            guard let self, self.isRecorded else { return }
            let kind: RecordedEvent.Kind
            switch event.kind {
            case .message: kind = .message(event.message.parameters.url)
            case .reply: kind = .reply
            case .failure(let error): kind = .failure("\(error.code): \(error.message)")
            case .progress, .answer: return
            }
            self.add(
                RecordedEvent(
                    time: self.elapsed,
                    node: node,
                    id: event.message.id,
                    cause: event.cause,
                    pattern: event.pattern,
                    kind: kind
                )
            )
        }
        self.keep(registration)
    }
}
