public import WaybillEventLoop

/// An actor that owns a URL prefix and handles what is under it.
///
/// Write `@Module` on an actor and `@Route` on its methods, and the conformance is written for you:
///
/// ```swift
/// @Module("app://user")
/// actor UserModule {
///     /// app://user/detail?uid=1&name=Lili
///     @Route func detail(uid: Int, name: String = "") -> User { ... }
/// }
/// try await bus.install { UserModule() }
/// ```
///
/// Everything that the macro writes can be written by hand: ``context`` as a stored property, and ``routes``.
///
/// A module runs on the loop of the bus that it is installed in. It reaches other modules through ``bus``.
public protocol Module: LoopBound {
    /// The URL that the paths of the module's routes are below.
    static var url: String { get }

    /// What the module handles.
    static var routes: [ModuleRoute<Self>] { get }

    /// The services that the module provides; none by default.
    ///
    /// `@Module` writes it for those that the actor names behind its colon.
    static var services: [ServiceRoutes<Self>] { get }

    /// Where the module lives; a stored property that is ``ModuleContext/current`` from the beginning.
    nonisolated var context: ModuleContext { get }
}

extension Module {
    /// No services.
    public static var services: [ServiceRoutes<Self>] { [] }

    /// The loop that the module runs on: the first of the bus that it was made for.
    public nonisolated var eventLoop: EventLoop { self.context.eventLoop }

    /// The loop as the module's executor.
    ///
    /// `LoopBound` has it too, but code that imports `Waybill` alone does not see that, and an actor that
    /// sees none gets an executor of its own.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe self.eventLoop.asUnownedSerialExecutor()
    }

    /// The bus that the module was made for.
    ///
    /// A module may keep it: a bus ends when its owner releases it, however many modules refer to it, and
    /// what they route afterwards fails with `shutDown`.
    public nonisolated var bus: MessageBus { self.context.bus }
}

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

    /// For modules that are not installed in a bus.
    private static let shared = EventLoop(name: "modules")
}
