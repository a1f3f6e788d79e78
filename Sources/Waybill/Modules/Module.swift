public import WaybillEventLoop

/// An actor that owns a URL prefix and handles the messages to URLs below the prefix.
///
/// The macros `@Module` on an actor and `@Route` on its methods generate the conformance:
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
/// You can also write the conformance by hand. A module runs on a loop of the bus in which it is installed,
/// and reaches other modules through ``bus``.
public protocol Module: LoopBound {
    /// The base URL of the module's routes.
    static var url: String { get }

    /// The routes of the module.
    static var routes: [ModuleRoute<Self>] { get }

    /// The services that the module provides; none by default.
    static var services: [ServiceRoutes<Self>] { get }

    /// The bus and the loop of the module.
    ///
    /// The conforming type stores this property with the initial value ``ModuleContext/current``.
    nonisolated var context: ModuleContext { get }
}

extension Module {
    /// An empty list of services.
    public static var services: [ServiceRoutes<Self>] { [] }

    /// The loop on which the module runs, from its ``context``.
    public nonisolated var eventLoop: EventLoop { self.context.eventLoop }

    /// The loop as the module's executor.
    ///
    /// `LoopBound` declares this property too, but the compiler would give the actor a default executor in
    /// code that imports only `Waybill`.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe self.eventLoop.asUnownedSerialExecutor()
    }

    /// The bus for which the module was created.
    ///
    /// A module may keep the bus, which nevertheless ends when its owner releases it. Messages that the
    /// module routes afterwards fail with `shutDown`.
    public nonisolated var bus: MessageBus { self.context.bus }
}

/// The bus and the loop of a module.
///
/// ``MessageBus/install(named:instances:mailbox:fileID:line:_:)`` provides the context of each module that it
/// creates. A module that other code creates, for example a test, has a separate bus without registrations,
/// and runs on the current loop or on a shared loop.
public struct ModuleContext: Sendable {
    /// The bus, which the module does not keep alive.
    public let bus: MessageBus

    /// The loop on which the module runs.
    public let eventLoop: EventLoop

    /// The context that `install` provides for the module that it creates.
    @TaskLocal static var installing: ModuleContext?

    /// The context for the module that is being created.
    public static var current: Self {
        if let installing = self.installing { return installing }
        let eventLoop = EventLoop.current ?? self.shared
        return Self(bus: MessageBus(eventLoop: eventLoop), eventLoop: eventLoop)
    }

    /// The loop of modules that are not installed in a bus.
    private static let shared = EventLoop(name: "modules")
}
