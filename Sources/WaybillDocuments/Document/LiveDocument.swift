package import Waybill
internal import WaybillEventLoop

/// The document of a bus for those who ask from outside, as its routes are now.
///
/// A document runs the `init(from:)` of the program's types, which may trap. So that no peer can cause that,
/// the document is made when a server makes this object, and again when the program has changed what it
/// registers or exposes. A peer that asks gets the document that is there, or waits for the one that is being
/// made.
package final class LiveDocument: Sendable {
    private let bus: MessageBus
    private let scope: DocumentScope
    private let state = Locked(State())
    private let observation = Locked<Observation?>(nil)

    /// How long at least it is from one change to the next document: a program that registers and unregisters
    /// all the time pays for some of the documents.
    private static let interval = Duration.milliseconds(100)

    private struct Observation {
        let end: @Sendable () -> Void
    }

    private struct State {
        /// The document of the beginning.
        var first: BusDocument?
        /// The document after the latest change; nil when there has been no change.
        var latest: Task<BusDocument, Never>?
        /// Whether the latest document may be without a change that is made now.
        var hasBegun = false
        var earliest = ContinuousClock.now
    }

    /// Describes the routes of a bus, and follows their changes.
    package init(of bus: MessageBus, scope: DocumentScope) {
        self.bus = bus
        self.scope = scope
        // The observer comes first, so that it misses no change.
        let end = bus.observeRoutes { [weak self] in self?.noteChange() }
        self.observation.withLock { $0 = Observation(end: end) }
        let first = bus.document(of: scope)
        self.state.withLock { $0.first = first }
    }

    deinit { self.observation.withLock { $0.take() }?.end() }

    /// The document, with every change that was made before.
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

    /// Waits until the next document may be made.
    private func beginNext() async {
        let earliest = self.state.withLock(\.earliest)
        try? await ContinuousClock().sleep(until: earliest)
        self.state.withLock { state in
            state.hasBegun = true
            state.earliest = .now + Self.interval
        }
    }
}
