public import Waybill
public import WaybillEventLoop

/// A bus with GitHub's routes and a module on it, and somebody who asks.
public struct Office: Sendable {
    /// Answered by a method of the module that cannot suspend.
    public static let detail = UserURLs("app://user/detail")
    /// Answered by a plain closure.
    public static let closure = UserURLs("app://user/closure")
    /// Answered by the same method, which `@Route` made a route of.
    public static let macro = UserURLs("app://desk/detail")
    /// Answered by a method of the module that awaits another actor.
    public static let suspending = UserURLs("app://user/suspending")

    /// What carries the messages.
    public let bus: MessageBus
    /// Who asks.
    public let caller: Caller
    /// Who answers.
    public let module: UserModule

    /// Opens an office.
    ///
    /// - Parameters:
    ///   - loop: where the caller is, and the bus.
    ///   - other: where the module is, if elsewhere.
    /// - Throws: what registering throws.
    public init(on loop: EventLoop, module other: EventLoop? = nil) throws {
        let bus = MessageBus(eventLoops: other.map { [loop, $0] } ?? [loop])
        let module = UserModule(eventLoop: other ?? loop)
        let archive = UserModule(eventLoop: other ?? loop)
        for pattern in GitHubRoutes.patterns { try bus.register(pattern) { _ in 0 } }
        try bus.register("app://user/detail", on: module) { module, message in
            module.detail(uid: try message.parameters.require("uid"))
        }
        try bus.register("app://user/closure") { message -> Int in
            try message.parameters.require("uid")
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
