#if HTTP
internal import Waybill
internal import WaybillEventLoop

/// Observes a bus while there are readers, and for some time after the last reader has ended.
///
/// A reader is an open page. Because the observation continues for some time, a page that is loaded again
/// shows the same messages. At other times, the bus is not observed, and no messages are kept.
final class Watch: Sendable {
    private struct State {
        var readers = 0
        var registration: Registration?
        /// The number of times that readers have begun or ended.
        ///
        /// If this number has changed during the wait, the observation continues.
        var changes = 0
    }

    private let bus: MessageBus
    private let recorder: Recorder
    private let lingering: Duration
    private let state = Locked(State())

    /// Creates a watch, which does not observe the bus yet.
    ///
    /// The observation continues for the given time after the last reader has ended.
    init(_ bus: MessageBus, _ recorder: Recorder, lingering: Duration) {
        self.bus = bus
        self.recorder = recorder
        self.lingering = lingering
    }

    deinit { self.state.withLock { $0.registration.take() }?.cancel() }

    /// Whether the bus is observed.
    var isOn: Bool { self.state.withLock { $0.registration != nil } }

    /// Adds a reader.
    func begin() {
        self.recorder.update(self.bus)
        let isOn = self.state.withLock { state in
            state.readers += 1
            state.changes += 1
            return state.registration != nil
        }
        guard !isOn else { return }
        let recorder = self.recorder
        let registration = self.bus.observe { recorder.take($0) }
        // Two readers possibly began at the same time. Only one of their registrations is needed.
        let surplus = self.state.withLock { state in
            guard state.registration == nil else { return registration as Registration? }
            state.registration = registration
            return nil
        }
        surplus?.cancel()
    }

    /// Removes a reader.
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
