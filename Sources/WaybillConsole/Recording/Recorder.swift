#if HTTP
internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// Records the messages of a bus.
///
/// An observer of the bus calls the recorder on the loops of the bus. For a message that is not kept, the
/// recorder takes a lock once and creates no text.
final class Recorder: Sendable {
    let writer: ValueWriter
    let catalog: RouteCatalog
    let start: ContinuousClock.Instant
    let state: Locked<RecorderState>

    init(
        _ writer: ValueWriter,
        catalog: RouteCatalog,
        limits: RecordingLimits,
        start: ContinuousClock.Instant
    ) {
        self.writer = writer
        self.catalog = catalog
        self.start = start
        self.state = Locked(RecorderState(limits, at: 0))
    }

    /// Returns the seconds from the creation of the console to an instant.
    func seconds(at instant: ContinuousClock.Instant = .now) -> Double { (instant - self.start).seconds }

    /// Updates the catalog, and forgets routes that no longer exist.
    func update(_ bus: MessageBus) {
        guard let patterns = self.catalog.update(bus) else { return }
        self.state.withLock { $0.removeRoutes(except: patterns) }
    }

    /// Records an event of a message.
    func take(_ event: MessageTrace.Event) {
        let message = event.message
        let time = self.seconds(at: event.time)
        switch event.kind {
        case .message: self.begin(message, pattern: event.pattern, time: time)
        case .progress(let value): self.note(.progress, of: message.id, time: time, value: value)
        case .answer(let value): self.note(.answer, of: message.id, time: time, value: value)
        case .reply(let value):
            guard self.end(event, hasFailed: false) else { return }
            let text = self.writer.text(value)
            let duration = event.duration.microseconds
            self.state.withLock { $0.end(message.id, at: time, after: duration, reply: text, failure: nil) }
        case .failure(let error):
            guard self.end(event, hasFailed: true) else { return }
            let failure = ShownFailure(error, self.writer, hiding: self.hidden(in: message))
            let duration = event.duration.microseconds
            self.state.withLock {
                $0.end(message.id, at: time, after: duration, reply: nil, failure: failure)
            }
        }
    }

    /// Records a dead letter, unless its message was delivered and has already been counted.
    func take(_ letter: DeadLetter) {
        let time = self.seconds(at: letter.time)
        let route = letter.pattern ?? ""
        let begun = self.state.withLock { state in
            state.isCounted(letter.id)
                ? nil
                : state.begin(
                    letter.id,
                    to: letter.url,
                    route,
                    cause: letter.message?.cause,
                    at: time,
                    hasEnded: true
                )
        }
        guard let begun, begun.decision.isKept else { return }
        let recorded = self.recorded(letter, time: time)
        let failure = ShownFailure(
            letter.error,
            self.writer,
            hiding: letter.message.map(self.hidden(in:)) ?? []
        )
        self.state.withLock { state in
            state.keep(recorded, begun)
            state.end(letter.id, at: time, after: nil, reply: nil, failure: failure)
        }
    }

    private func begin(_ message: Message, pattern: String?, time: Double) {
        let begun = self.state.withLock { state in
            state.begin(
                message.id,
                to: message.parameters.url,
                pattern ?? "",
                cause: message.cause,
                at: time
            )
        }
        guard begun.decision.isKept else { return }
        // This call is outside the lock, because it runs code of the program's types.
        let recorded = self.recorded(message, pattern: pattern, time: time)
        self.state.withLock { $0.keep(recorded, begun) }
    }

    private func end(_ event: MessageTrace.Event, hasFailed: Bool) -> Bool {
        self.state.withLock { state in
            state.end(event.message.id, event.pattern ?? "", after: event.duration, hasFailed: hasFailed)
        }
    }

    private func note(
        _ kind: FlowEvent.Kind,
        of id: CorrelationID,
        time: Double,
        value: any Sendable
    ) {
        guard self.state.withLock({ $0.admit(kind, of: id) }) else { return }
        let text = self.writer.text(value)
        self.state.withLock { $0.note(kind, of: id, at: time, text) }
    }
}

extension RecorderState.Decision {
    var isKept: Bool {
        if case .count = self { false } else { true }
    }
}

// Conversion of messages to the form that the console keeps.
extension Recorder {
    private func recorded(_ message: Message, pattern: String?, time: Double) -> RecordedMessage {
        RecordedMessage(
            id: message.id,
            time: time,
            url: self.shownURL(of: message).text,
            pattern: pattern,
            module: self.catalog.module(of: pattern),
            origin: "\(message.origin)",
            node: message.isFromNode ? message.origin.peer : nil,
            cause: message.cause,
            answers: message.correlationID,
            kind: message.deliveryKind,
            value: message.rawPayload.map { self.writer.text($0) },
            parameters: self.parameters(of: message)
        )
    }

    private func recorded(_ letter: DeadLetter, time: Double) -> RecordedMessage {
        if let message = letter.message {
            return self.recorded(message, pattern: letter.pattern, time: time)
        }
        return RecordedMessage(
            id: letter.id,
            time: time,
            url: self.writer.redaction.url(letter.url).text,
            pattern: letter.pattern,
            module: self.catalog.module(of: letter.pattern),
            origin: "\(MessageOrigin.local)",
            node: nil,
            cause: nil,
            answers: nil,
            kind: letter.isAwaited ? .request : .send,
            value: nil,
            parameters: []
        )
    }

    /// Returns the URL of a message in the form that may be shown.
    func shownURL(of message: Message) -> Redaction.ShownURL {
        let parameters = message.parameters
        return self.writer.redaction.url(parameters.url, path: self.catalog.pathRanges(of: parameters))
    }

    private static let parameterLimit = 32

    private func parameters(of message: Message) -> [(name: String, shape: String)] {
        let parameters = message.parameters
        var values: [String: any Sendable] = parameters.query
        values.merge(parameters.path) { _, path in path }
        values.merge(parameters.passedValues) { _, passed in passed }
        return values.sorted { $0.key < $1.key }.prefix(Self.parameterLimit).map { name, value in
            (String(name.prefix(100)), self.writer.text(value, named: name))
        }
    }

    /// Returns the values that the console hides because of their names, as texts.
    ///
    /// An error message may contain these values, and they are removed from the error message as well.
    func hidden(in message: Message) -> [String] {
        guard self.writer.showsPayloads else { return [] }
        let redaction = self.writer.redaction
        let passed = message.parameters.passedValues.filter { redaction.hides($0.key) }.map {
            Parameters.text(of: $0.value)
        }
        let headers = message.headers.filter { redaction.hides($0.key) }.map(\.value)
        return self.shownURL(of: message).hidden + passed + headers
    }
}
#endif
