public import Waybill
public import WaybillEventLoop

/// A bus with GitHub's routes, some modules, and a caller.
public struct Office: Sendable {
    /// A route to a method of the module that cannot suspend.
    public static let detail = UserURLs("app://user/detail")
    /// A route to a closure.
    public static let closure = UserURLs("app://user/closure")
    /// A route to the same method, as `@Route` generates it.
    public static let module = UserURLs("app://desk/detail")
    /// A route to a method of the module that may suspend, and does not.
    public static let ready = UserURLs("app://user/ready")
    /// A route to a handler that calls the method that cannot suspend.
    public static let readyOn = UserURLs("app://user/ready-on")
    /// A route to a method of the module that awaits another actor.
    public static let suspending = UserURLs("app://user/suspending")

    /// The bus of the office.
    public let bus: MessageBus
    /// The calling module.
    public let caller: Caller
    /// The answering module.
    public let module: UserModule

    /// The service of the bus, by a proxy.
    public var service: any DetailService {
        get throws { try self.bus.service((any DetailService).self) }
    }

    /// Creates an office.
    ///
    /// - Parameters:
    ///   - loop: The loop of the caller.
    ///   - other: The loop of the modules, or nil if they share the caller's loop.
    ///   - first: A further loop that is the first one of the bus, or nil if the caller's loop is the first.
    /// - Throws: The error of a registration.
    public init(on loop: EventLoop, module other: EventLoop? = nil, first: EventLoop? = nil) throws {
        let bus = MessageBus(eventLoops: [first, loop, other].compactMap(\.self))
        let module = UserModule(eventLoop: other ?? loop)
        let archive = UserModule(eventLoop: other ?? loop)
        for pattern in GitHubRoutes.patterns { try bus.register(pattern) { _ in 0 } }
        try bus.register("app://user/detail", on: module) { module, message in
            module.detail(uid: try message.parameters.require("uid"))
        }
        try bus.register("app://user/closure") { message -> Int in
            try message.parameters.require("uid")
        }
        try bus.register("app://user/ready", on: module) { module, message in
            await module.ready(uid: try message.parameters.require("uid"))
        }
        // The handler has a weak reference to the bus, because the bus retains the handler.
        try bus.register("app://user/ready-on", on: module) { [unowned bus] _, message in
            let uid: Int = try message.parameters.require("uid")
            return try await bus.route(Self.detail[uid - 1], as: Int.self)
        }
        try bus.register("app://user/suspending", on: module) { module, message in
            await module.lookUp(uid: try message.parameters.require("uid"), in: archive)
        }
        try bus.install(Desk(eventLoop: other ?? loop))
        self.bus = bus
        self.caller = Caller(eventLoop: loop)
        self.module = module
    }
}
