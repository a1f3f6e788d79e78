public import Waybill
public import WaybillEventLoop

/// An answering module like `UserModule`, with the routes that `@Module` and `@Route` generate.
public actor Desk: Module, DetailService {
    /// The context of the module, which is created outside of the bus that installs it.
    public nonisolated let context = ModuleContext.current
    /// The loop of the module, which belongs to the measurement.
    public nonisolated let eventLoop: EventLoop
    /// The number of calls.
    public private(set) var visits = 0

    /// Creates a module without calls.
    public init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    /// Performs the same work as `UserModule.detail`.
    public func detail(uid: Int) -> Int {
        self.visits &+= 1
        return uid
    }

    /// The base URL of the routes.
    public static let url = "app://desk"

    /// The only route of the module.
    public static var routes: [ModuleRoute<Desk>] {
        [
            ModuleRoute(
                "app://desk/detail",
                action: "detail",
                parameters: [.init("uid", "Int")],
                documentation: "What `UserModule.detail` does."
            ) { module, message -> Int in
                module.detail(uid: try message.argument("uid") as Int)
            }
        ]
    }

    /// The services that the module provides.
    public static var services: [ServiceRoutes<Desk>] {
        var services: [ServiceRoutes<Desk>] = []
        services += serviceRoutes(of: (any DetailService).self, in: Desk.self)
        var methods: [ModuleMethod<Desk>] = []
        methods.append(
            ModuleMethod<Desk>("detail(uid:)", parameters: [.init("uid", "Int", of: Int.self)]) {
                module,
                message -> Int in
                try module.detail(uid: message.argument("uid") as Int)
            }
        )
        return services.map { $0.calling(methods) }
    }

    /// URLs whose parameters the compiler checks.
    public enum URLs {
        /// Returns the URL of `detail`.
        public static func detail(uid: Int) -> TypedURL<Int> {
            TypedURL(url: "app://desk/detail").with("uid", uid)
        }
    }
}
