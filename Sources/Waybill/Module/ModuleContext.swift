public import WaybillEventLoop

/// Where a module lives: its bus, and its loop.
///
/// ``MessageBus/install(named:instances:mailbox:fileID:line:_:)`` says it to the module that it makes. A
/// module that is made outside of that, in a test perhaps, lives on the loop that makes it, or on a shared
/// one, with a bus of its own on which nothing is registered.
public struct ModuleContext: Sendable {
    /// The bus, which the module does not keep alive.
    public let bus: MessageBus

    /// The loop that the module runs on.
    public let eventLoop: EventLoop

    /// What `install` says to the module that is being made.
    @TaskLocal static var installing: ModuleContext?

    /// The context for the module that is being made.
    public static var current: Self { self.installing ?? self.standalone }

    private static var standalone: Self {
        let eventLoop = EventLoop.current ?? self.shared
        return Self(bus: MessageBus(eventLoop: eventLoop), eventLoop: eventLoop)
    }

    /// For modules that nobody installs.
    private static let shared = EventLoop(name: "modules")
}
