internal import Measure
public import WaybillEventLoop

/// The module that answers: it reads one whole number and gives one back.
public actor UserModule: LoopBound {
    /// Where it runs.
    public nonisolated let eventLoop: EventLoop
    /// How often it was asked.
    public private(set) var visits = 0

    /// Makes a module that has not been asked.
    public init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    /// The method of the routes, which is also called directly.
    public func detail(uid: Int) -> Int {
        self.visits &+= 1
        return uid
    }

    /// The same as a method that may suspend, and does not.
    public func ready(uid: Int) async -> Int { self.detail(uid: uid) }

    /// Awaits the method of another actor.
    public func lookUp(uid: Int, in other: UserModule) async -> Int { await other.detail(uid: uid) }

    /// Calls `ready(uid:)` repeatedly, each time in a new task that starts immediately.
    public func answerInTasks(_ count: Int) async -> UInt64 {
        var sum = 0
        let start = MonotonicTime.now
        for index in 0..<count {
            sum &+= await Task.immediate { await self.ready(uid: index & 15 &+ 1) }.value
        }
        return Caller.time(since: start, sum, count)
    }
}
