import Testing
import WaybillRouting
import WaybillTestSupport

@testable import WaybillServe

@Suite
struct CallTurnsTests {
    @Test
    func `a connection can always run its guaranteed calls`() {
        var turns = CallTurns<Int>(guaranteed: 2, shared: 1)
        let first = (1...5).map { _ in turns.ask(1) }
        let second = (1...3).map { _ in turns.ask(2) }
        #expect(first == [true, true, true, false, false] && second == [true, true, false])
        let isRun = turns.ask(3)
        #expect(isRun)
    }

    @Test
    func `connections take turns, however many calls of each wait`() {
        var turns = CallTurns<Int>(guaranteed: 1, shared: 1)
        for _ in 0..<10 { _ = turns.ask(1) }
        for _ in 0..<3 { _ = turns.ask(2) }
        // Connection 1 runs two calls, and connection 2 runs one. The connections take turns at the shared
        // place.
        var order: [Int] = []
        var last = 1
        for _ in 0..<6 {
            let started = turns.end(last)
            #expect(started.count == 1)
            last = started.first ?? 0
            order.append(last)
        }
        #expect(order.contains(2))
    }

    @Test
    func `the running calls of a closed connection keep their places`() {
        var turns = CallTurns<Int>(guaranteed: 1, shared: 2)
        for _ in 0..<4 { _ = turns.ask(1) }
        let asked = (1...3).map { _ in turns.ask(2) }
        #expect(asked == [true, false, false])
        let (closed, again) = (
            turns.close(1, movingCallsTo: 0), turns.close(1, movingCallsTo: 0)
        )
        #expect(closed.isEmpty && again.isEmpty && turns.waiting == 2)
        let ended = (1...3).map { _ in turns.end(0) }
        #expect(ended == [[2], [2], []])
        let last = turns.end(0)
        #expect(last.isEmpty)
    }

    @Test
    func `calls of closed connections beyond the shared places use places of connections`() {
        var turns = CallTurns<Int>(guaranteed: 2, shared: 3)
        // The closed connections have two guaranteed calls, and use the shared places for the others.
        var used: [Int] = []
        for connection in 1...5 {
            for _ in 0..<2 { _ = turns.ask(connection) }
            _ = turns.close(connection, movingCallsTo: 0)
            used.append(turns.connectionsInUse)
        }
        #expect(used == [0, 0, 1, 2, 3])
        for _ in 0..<5 { _ = turns.end(0) }
        #expect(turns.connectionsInUse == 0)
    }

    @Test
    func `a withdrawn call never starts`() {
        var turns = CallTurns<Int>(guaranteed: 1, shared: 0)
        let asked = (1...3).map { _ in turns.ask(1) }
        #expect(asked == [true, false, false])
        turns.withdraw(1)
        let (started, last) = (turns.end(1), turns.end(1))
        #expect(started == [1] && last.isEmpty)
        let isRun = turns.ask(1)
        #expect(isRun)
    }

    /// Compares random runs with counts that the test keeps itself.
    @Test(arguments: 0..<UInt64(40))
    func `random calls run within their limits, and no call waits while there is room`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let (guaranteed, shared) = (1 + generator.number(below: 3), generator.number(below: 4))
        var turns = CallTurns<Int>(guaranteed: guaranteed, shared: shared)
        var running: [Int: Int] = [:]
        var waiting: [Int: Int] = [:]
        func start(_ connections: [Int]) {
            for connection in connections {
                #expect(waiting[connection, default: 0] > 0)
                waiting[connection, default: 0] -= 1
                running[connection, default: 0] += 1
            }
        }
        for _ in 0..<400 {
            let connection = generator.number(below: 4)
            switch generator.number(below: 10) {
            case 0..<5:
                if turns.ask(connection) {
                    #expect(waiting[connection, default: 0] == 0)
                    running[connection, default: 0] += 1
                } else {
                    waiting[connection, default: 0] += 1
                }
            case 5..<8 where running[connection, default: 0] > 0:
                running[connection, default: 0] -= 1
                start(turns.end(connection))
            case 8 where waiting[connection, default: 0] > 0:
                waiting[connection, default: 0] -= 1
                turns.withdraw(connection)
            case 9 where generator.isOne(in: 4) && running[connection, default: 0] == 0:
                waiting[connection] = 0
                start(turns.close(connection, movingCallsTo: -1))
            default: break
            }
            #expect(turns.waiting == waiting.values.reduce(0, +))
            let beyond = running.values.reduce(0) { $0 + max(0, $1 - guaranteed) }
            #expect(beyond <= shared)
            for (connection, count) in waiting where count > 0 {
                #expect(running[connection, default: 0] >= guaranteed && beyond == shared)
            }
        }
    }
}
