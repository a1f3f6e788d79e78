public import Waybill
public import WaybillEventLoop

/// The module that answers, as `UserModule` does, by routes as `@Module` and `@Route` write them.
public actor Desk: Module, DetailService {
    /// Where it lives: it is made outside of the bus that it is installed in.
    public nonisolated let context = ModuleContext.current
    /// Where it runs: on a loop of the measurement's own.
    public nonisolated let eventLoop: EventLoop
    /// How often it was asked.
    public private(set) var visits = 0

    /// Makes a module that has not been asked.
    public init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    /// Performs the same work as `UserModule.detail`.
    public func detail(uid: Int) -> Int {
        self.visits &+= 1
        return uid
    }

    /// The URL above the routes.
    public static let url = "app://desk"

    /// Its method.
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

    /// The service that it provides.
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
