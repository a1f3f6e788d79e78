internal import Measure
public import WaybillEventLoop

/// The answering module, which reads one integer and returns one.
public actor UserModule: LoopBound {
    /// The loop of the module.
    public nonisolated let eventLoop: EventLoop
    /// The number of calls.
    public private(set) var visits = 0

    /// Creates a module without calls.
    public init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    /// The method of the routes, which is also called directly.
    public func detail(uid: Int) -> Int {
        self.visits &+= 1
        return uid
    }

    /// Performs the work of `detail` in a method that may suspend, and does not.
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
