import Measure
import Subjects

/// An actor on the default executor that answers like the module.
actor PlainActor {
    private var visits = 0

    func detail(uid: Int) -> Int {
        self.visits &+= 1
        return uid
    }
}

/// An actor on the default executor that calls another actor.
actor PlainCaller {
    func call(_ other: PlainActor, _ count: Int) async -> UInt64 {
        var sum = 0
        let start = MonotonicTime.now
        for index in 0..<count { sum &+= await other.detail(uid: index & 15 &+ 1) }
        return Caller.time(since: start, sum, count)
    }

    /// Calls an actor with a deadline, as a program without a bus can: each call races a sleep.
    func callInTime(_ other: PlainActor, _ count: Int) async throws -> UInt64 {
        var sum = 0
        let start = MonotonicTime.now
        for index in 0..<count {
            sum &+= try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask { await other.detail(uid: index & 15 &+ 1) }
                group.addTask {
                    try await Task.sleep(for: .seconds(2))
                    return 0
                }
                defer { group.cancelAll() }
                return try await group.next() ?? 0
            }
        }
        return Caller.time(since: start, sum, count)
    }
}

enum Peers {
    static let actorCall = {
        let caller = PlainCaller()
        let other = PlainActor()
        return Subject("actor call, default executor") { await caller.call(other, $0) }
    }()

    static let hundredActorCalls = {
        let caller = PlainCaller()
        let other = PlainActor()
        return Subject("100 actor calls") { await caller.call(other, $0 * 100) }
    }()

    static let actorCallInTime = {
        let caller = PlainCaller()
        let other = PlainActor()
        return Subject("actor call that races a sleep") { try await caller.callInTime(other, $0) }
    }()

    static let directCall = Subject("direct async call") { count in
        var sum = 0
        let start = MonotonicTime.now
        for index in 0..<count { sum &+= await answer(index & 15 &+ 1) }
        return Caller.time(since: start, sum, count)
    }
}

/// A function that the compiler does not inline, like one in another module.
@inline(never)
private nonisolated(nonsending) func answer(_ uid: Int) async -> Int { uid }
