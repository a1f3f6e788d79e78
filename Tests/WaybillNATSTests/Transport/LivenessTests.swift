#if NATS
import Testing
@testable import WaybillNATS

/// How a server that is silent is told from one that has nothing to say.
struct LivenessTests {
    private let second = Liveness.interval

    @Test func `a server is asked each second, and answers`() {
        var liveness = Liveness(at: 0)
        #expect(liveness.check(at: self.second - 1, hasRead: false) == .good)
        for time in 1...5 {
            #expect(liveness.check(at: Int64(time) * self.second, hasRead: false) == .unsure)
            #expect(liveness.check(at: Int64(time) * self.second + 10, hasRead: true) == .good)
        }
    }

    @Test func `one that does not answer within a second is bad`() {
        var liveness = Liveness(at: 0)
        #expect(liveness.check(at: self.second, hasRead: true) == .unsure)
        #expect(liveness.check(at: 2 * self.second - 1, hasRead: false) == .good)
        #expect(liveness.check(at: 2 * self.second, hasRead: false) == .bad)
    }

    @Test func `after the process stood still, what waits to be read counts`() {
        var liveness = Liveness(at: 0)
        #expect(liveness.check(at: self.second, hasRead: false) == .unsure)
        #expect(liveness.check(at: 100 * self.second, hasRead: true) == .unsure)
        #expect(liveness.check(at: 100 * self.second + 1, hasRead: false) == .good)
    }
}
#endif
