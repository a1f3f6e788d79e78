#if NATS
import Testing

@testable import WaybillNATS

/// The difference between a dead server and a server that sends no messages.
struct LivenessTests {
    /// Returns whether the connection is considered dead at each time, given in intervals.
    private func answers(_ checks: [(time: Double, hasMoved: Bool)]) -> [Bool] {
        var liveness = Liveness(at: 0)
        return checks.map { check in
            liveness.isSilent(at: Int64(check.time * Double(Liveness.interval)), hasMoved: check.hasMoved)
        }
    }

    @Test func `a NATS server that answers once in each interval is not silent`() {
        let checks = (1...5).flatMap { [(Double($0) - 0.1, true), (Double($0), false)] }
        #expect(!self.answers(checks).contains(true))
    }

    @Test func `a NATS server that does not answer until the next interval has ended is silent`() {
        #expect(
            self.answers([(1, false), (2, false), (2.9, false), (3, false)]) == [false, false, false, true]
        )
    }

    @Test func `a process that hung does not count its server as silent`() {
        #expect(
            self.answers([(1, false), (2, false), (100, false), (101, false), (102, false)])
                == [false, false, false, false, true]
        )
    }
}
#endif
