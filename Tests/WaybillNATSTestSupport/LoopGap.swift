package import WaybillEventLoop
internal import WaybillRouting

/// The longest delay of a due timer on any of some loops.
///
/// About half a millisecond of it is the delay of the timers themselves.
package final class LoopGap: Sendable {
    private let longest = Locked(Duration.zero)

    package init(of loops: [EventLoop]) {
        for loop in loops { Self.arm(loop, for: self) }
    }

    /// The longest gap so far.
    package var value: Duration { self.longest.withLock { $0 } }

    private static func arm(_ loop: EventLoop, for gap: LoopGap) {
        let due = ContinuousClock.now + .milliseconds(1)
        loop.schedule(at: due) { [weak gap] in
            guard let gap else { return }
            let late = ContinuousClock.now - due
            gap.longest.withLock { $0 = max($0, late) }
            Self.arm(loop, for: gap)
        }
    }
}
