package import Waybill
internal import WaybillEventLoop

/// The current document of a bus, for peers.
///
/// Building a document runs the `init(from:)` of the program's types, which may trap. A peer must not be able
/// to cause this. The document is therefore built when a server creates this object, and again after the
/// program has changed its registered or exposed routes. A peer receives the existing document, or waits for
/// the document that is being built.
package final class LiveDocument: Sendable {
    private let bus: MessageBus
    private let scope: DocumentScope
    private let state = Locked(State())
    private let observation = Locked<Observation?>(nil)

    /// The minimum time between the beginnings of two documents.
    ///
    /// It limits the cost for a program that changes its routes all the time.
    private static let interval = Duration.milliseconds(100)

    private struct Observation {
        let end: @Sendable () -> Void
    }

    private struct State {
        /// The document that was built by the initialiser.
        var first: BusDocument?
        /// The document after the latest change; nil if the routes have not changed.
        var latest: Task<BusDocument, Never>?
        /// Whether the latest document is being built, so that it may not include a change that happens now.
        var hasBegun = false
        var earliest = ContinuousClock.now
    }

    /// Creates the document of a bus, and observes the changes of its routes.
    package init(of bus: MessageBus, scope: DocumentScope) {
        self.bus = bus
        self.scope = scope
        // The observation begins before the document is built, so that it misses no change.
        let end = bus.observeRoutes { [weak self] in self?.noteChange() }
        self.observation.withLock { $0 = Observation(end: end) }
        let first = bus.document(of: scope)
        self.state.withLock { $0.first = first }
    }

    deinit { self.observation.withLock { $0.take() }?.end() }

    /// The document, which includes every earlier change.
    package var current: BusDocument {
        get async {
            let (first, latest) = self.state.withLock { ($0.first, $0.latest) }
            if let latest { return await latest.value }
            return first ?? self.bus.document(of: self.scope)
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
                return bus.document(of: scope)
            }
        }
    }

    /// Waits until the next document may be built.
    private func beginNext() async {
        let earliest = self.state.withLock(\.earliest)
        try? await ContinuousClock().sleep(until: earliest)
        self.state.withLock { state in
            state.hasBegun = true
            state.earliest = .now + Self.interval
        }
    }
}
