package import Waybill
internal import WaybillEventLoop
package import WaybillJSON

/// The current document of a bus, for clients in other processes.
///
/// To build a document, the bus runs the `init(from:)` of the program's types, which may trap. A client must
/// not be able to cause this trap. The document is therefore not built for a request. The document is built
/// when a server creates this object, and again after the program has changed its registered or exposed
/// routes. A client receives the existing document, or waits for the document that is being built.
package final class LiveDocument: Sendable {
    private let bus: MessageBus
    private let scope: DocumentScope
    private let state = Locked(State())
    private let observation = Locked<Observation?>(nil)

    /// The minimum time between the beginnings of two builds, for programs that often change their routes.
    private static let interval = Duration.milliseconds(100)

    private struct Observation {
        let end: @Sendable () -> Void
    }

    private struct State {
        /// The document that the initializer built.
        var first: WrittenDocument?
        /// The document after the latest change; nil if the routes have not changed since the initializer.
        var latest: Task<WrittenDocument, Never>?
        /// Whether the latest build has begun, so that it possibly misses a change that happens now.
        var hasBegun = false
        var earliest = ContinuousClock.now
    }

    /// Creates the document of a bus, and observes the changes of its routes.
    package init(of bus: MessageBus, scope: DocumentScope) {
        self.bus = bus
        self.scope = scope
        // Begin the observation before the document is built, so that no change is missed.
        let end = bus.observeRoutes { [weak self] in self?.noteChange() }
        self.observation.withLock { $0 = Observation(end: end) }
        let first = WrittenDocument(bus.document(of: scope))
        self.state.withLock { $0.first = first }
    }

    deinit { self.observation.withLock { $0.take() }?.end() }

    /// The document that includes every earlier change.
    package var current: BusDocument { get async { await self.written.document } }

    /// The fingerprint of the current document.
    package var fingerprint: String { get async { await self.written.fingerprint } }

    /// The current document as JSON on one line.
    package var jsonLine: JSONText { get async { await self.written.jsonLine } }

    private var written: WrittenDocument {
        get async {
            let (first, latest) = self.state.withLock { ($0.first, $0.latest) }
            if let latest { return await latest.value }
            return first ?? WrittenDocument(self.bus.document(of: self.scope))
        }
    }

    private func noteChange() {
        self.state.withLock { state in
            let previous = state.latest
            guard previous == nil || state.hasBegun else { return }
            state.hasBegun = false
            state.latest = Task { [bus, scope, weak self] in
                _ = await previous?.value
                await self?.beginNext()
                return WrittenDocument(bus.document(of: scope))
            }
        }
    }

    /// Waits until the interval since the previous build has passed.
    private func beginNext() async {
        let earliest = self.state.withLock(\.earliest)
        try? await ContinuousClock().sleep(until: earliest)
        self.state.withLock { state in
            state.hasBegun = true
            state.earliest = .now + Self.interval
        }
    }
}

/// A document, and its texts.
///
/// A peer may request the texts often, and writing them takes milliseconds. Each text is therefore written
/// once, for the first request.
private final class WrittenDocument: Sendable {
    let document: BusDocument
    private let texts = Locked(Texts())

    private struct Texts {
        var fingerprint: String?
        var jsonLine: JSONText?
    }

    init(_ document: BusDocument) { self.document = document }

    var fingerprint: String {
        self.texts.withLock { texts in
            let fingerprint = texts.fingerprint ?? self.document.fingerprint
            texts.fingerprint = fingerprint
            return fingerprint
        }
    }

    var jsonLine: JSONText {
        self.texts.withLock { texts in
            let line = texts.jsonLine ?? JSONText(Array(self.document.jsonLine.utf8))
            texts.jsonLine = line
            return line
        }
    }
}
