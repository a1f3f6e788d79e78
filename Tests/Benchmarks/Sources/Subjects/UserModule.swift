public import WaybillEventLoop

/// The module that answers: it reads one whole number and gives one back.
public actor UserModule: LoopBound {
    /// Where it runs.
    public nonisolated let eventLoop: EventLoop
    /// How often it was asked.
    public private(set) var visits = 0

    /// Makes a module that nobody has visited.
    public init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    /// What the routes lead to, and what a bare call of this actor does.
    public func detail(uid: Int) -> Int {
        self.visits &+= 1
        return uid
    }

    /// The same with something to wait for.
    public func lookUp(uid: Int, in other: UserModule) async -> Int { await other.detail(uid: uid) }
}
