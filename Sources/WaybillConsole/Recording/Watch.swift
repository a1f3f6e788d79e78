#if HTTP
internal import Waybill
internal import WaybillEventLoop

/// Has a bus observed while there are readers, and for a while after the last.
///
/// So a page that is loaded again continues where it was. Otherwise no delivery is observed, and nothing is
/// kept.
final class Watch: Sendable {
    private struct State {
        var readers = 0
        var registration: Registration?
        /// How often readers have come and gone, so that only the last end counts.
        var changes = 0
    }

    private let bus: MessageBus
    private let recorder: Recorder
    private let lingering: Duration
    private let state = Locked(State())

    /// - Parameters:
    ///   - bus: The bus, which is not retained.
    ///   - recorder: The recorder of the messages.
    ///   - lingering: The time for which the bus is observed after the last reader has gone.
    init(_ bus: MessageBus, _ recorder: Recorder, lingering: Duration) {
        self.bus = bus
        self.recorder = recorder
        self.lingering = lingering
    }

    deinit { self.state.withLock { $0.registration.take() }?.cancel() }

    /// Whether the bus is observed.
    var isOn: Bool { self.state.withLock { $0.registration != nil } }

    /// A reader has come.
    func begin() {
        self.recorder.catalog.update(self.bus)
        let isOn = self.state.withLock { state in
            state.readers += 1
            state.changes += 1
            return state.registration != nil
        }
        guard !isOn else { return }
        let recorder = self.recorder
        let registration = self.bus.observe { recorder.take($0) }
        // Two readers may have come at once.
        let surplus = self.state.withLock { state in
            guard state.registration == nil else { return registration as Registration? }
            state.registration = registration
            return nil
        }
        surplus?.cancel()
    }

    /// A reader has gone.
    func end() {
        let change = self.state.withLock { state in
            state.readers -= 1
            state.changes += 1
            return state.readers == 0 ? state.changes : nil
        }
        guard let change else { return }
        Task { [weak self, lingering] in
            try? await Task.sleep(for: lingering)
            self?.stop(after: change)
        }
    }

    private func stop(after change: Int) {
        let registration = self.state.withLock { state in
            state.changes == change ? state.registration.take() : nil
        }
        guard let registration else { return }
        registration.cancel()
        self.recorder.state.withLock { $0.clear(at: self.recorder.seconds()) }
    }
}
#endif
