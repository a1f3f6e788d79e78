public import Waybill
public import WaybillEventLoop

/// The module that answers, as `UserModule` does, by a route that a macro wrote.
@Module("app://desk")
public actor Desk {
    /// Where it runs: on a loop of the measurement's own.
    public nonisolated let eventLoop: EventLoop
    /// How often it was asked.
    public private(set) var visits = 0

    /// Makes a module that nobody has visited.
    public init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    /// What `UserModule.detail` does.
    @Route public func detail(uid: Int) -> Int {
        self.visits &+= 1
        return uid
    }
}
