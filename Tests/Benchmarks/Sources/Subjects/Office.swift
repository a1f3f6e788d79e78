public import Waybill
public import WaybillEventLoop

/// A bus with GitHub's routes and modules on it, and a caller.
public struct Office: Sendable {
    /// Answered by a method of the module that cannot suspend.
    public static let detail = UserURLs("app://user/detail")
    /// Handled by a closure.
    public static let closure = UserURLs("app://user/closure")
    /// Answered by the same method, by a route as `@Route` writes it.
    public static let module = UserURLs("app://desk/detail")
    /// Answered by a method of the module that may suspend, and does not.
    public static let ready = UserURLs("app://user/ready")
    /// Answered by a handler that routes on to the method that cannot suspend.
    public static let readyOn = UserURLs("app://user/ready-on")
    /// Answered by a method of the module that awaits another actor.
    public static let suspending = UserURLs("app://user/suspending")

    /// The bus of the office.
    public let bus: MessageBus
    /// The module that asks.
    public let caller: Caller
    /// The module that answers.
    public let module: UserModule

    /// The service that the bus has, by a proxy.
    public var service: any DetailService {
        get throws { try self.bus.service((any DetailService).self) }
    }

    /// Opens an office.
    ///
    /// - Parameters:
    ///   - loop: The loop of the caller.
    ///   - other: The loop of the modules, if it is another one.
    ///   - first: The first loop of the bus, if it is a third one.
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
        // The bus holds the handler, so the handler does not hold the bus.
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
