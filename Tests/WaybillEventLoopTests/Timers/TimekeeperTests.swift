import Testing
import WaybillTestSupport

@testable import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct TimekeeperTests {
    let keeper = Timekeeper(name: "timekeeper")

    @Test func `deadlines fire in the order of their times, whatever order they were set in`() async {
        let came = Journal<Int>()
        let start = ContinuousClock.now + .milliseconds(20)
        let keeper = self.keeper
        // The keeper fires no other deadline while this closure runs.
        keeper.schedule(at: Deadline(nanoseconds: 0)) {
            for index in [5, 1, 4, 2, 3] {
                keeper.schedule(at: Deadline(start + .milliseconds(index))) { came.add(index) }
            }
        }
        #expect(await eventually { came.entries.count == 5 })
        #expect(came.entries == [1, 2, 3, 4, 5])
        #expect(ContinuousClock.now >= start + .milliseconds(5))
    }

    @Test func `a cancelled deadline does not fire, and its closure is released`() async {
        let came = Journal<Int>()
        let keeper = self.keeper
        weak var object: Canary?
        do {
            let held = Canary()
            object = held
            let alarm = keeper.schedule(at: Deadline(.now + .seconds(3600))) { [held] in
                _ = held
                came.add(1)
            }
            alarm.cancel()
            alarm.cancel()
        }
        #expect(object == nil)
        // The keeper fires no other deadline while this closure runs.
        keeper.schedule(at: Deadline(nanoseconds: 0)) {
            let soon = Deadline(.now + .milliseconds(5))
            keeper.schedule(at: soon) { came.add(2) }.cancel()
            keeper.schedule(at: soon) { came.add(3) }
        }
        #expect(await eventually { came.entries == [3] })
    }

    @Test func `a passed deadline fires at once, and its closure can set another one`() async {
        let came = Journal<Int>()
        let keeper = self.keeper
        keeper.schedule(at: Deadline(nanoseconds: 0)) {
            came.add(1)
            keeper.schedule(at: Deadline(nanoseconds: 0)) { came.add(2) }
        }
        #expect(await eventually { came.entries == [1, 2] })
    }

    @Test func `deadlines that many threads set fire, and cancelled ones do not`() async {
        let (came, late) = (Tally(), Tally())
        let keeper = self.keeper
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for index in 0..<1000 {
                        keeper.schedule(at: Deadline(.now + .microseconds(index * 7 % 3000))) { came.add() }
                        keeper.schedule(at: Deadline(.now + .seconds(600 - index % 100))) { late.add() }
                            .cancel()
                    }
                }
            }
        }
        #expect(await eventually { came.count == 4000 })
        #expect(late.count == 0)
    }

    @Test func `a timekeeper has one timer, whatever its closures schedule`() async {
        let came = Tally()
        let keeper = self.keeper
        keeper.schedule(at: Deadline(.now + .seconds(600))) {}
        for count in 1...100 {
            keeper.schedule(at: Deadline(.now)) {
                keeper.schedule(at: Deadline(nanoseconds: 0)) { came.add() }
            }
            #expect(await eventually { came.count == count })
        }
        #expect(await eventually { keeper.eventLoop.statistics.pendingTimers == 1 })
    }

    private final class Canary: Sendable {}
}
