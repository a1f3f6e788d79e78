internal import WaybillEventLoop
internal import WaybillRouting

/// One route of a module: what it is, and the code that handles it.
///
/// `@Route` writes one for each method. By hand:
///
/// ```swift
/// static var routes: [ModuleRoute<Greeter>] {
///     [
///         ModuleRoute("app://greeter/hello", action: "hello", parameters: [.init("name", "String")]) {
///             greeter, message in
///             greeter.hello(name: try message.argument("name"))
///         }
///     ]
/// }
/// ```
public struct ModuleRoute<Module: Waybill.Module>: Sendable {
    /// What the route is.
    public private(set) var description: RouteDescription

    let makeCode: @Sendable (Module) -> HandlerCode

    /// The same route with code that answers at once, if one of these methods is the one that it calls.
    private var immediate: (@Sendable ([ModuleMethod<Module>]) -> Self?)?

    /// Makes a route whose code answers at once.
    ///
    /// - Parameters:
    ///   - pattern: what URLs it handles.
    ///   - action: the name of the method.
    ///   - parameters: what it reads.
    ///   - takesMessage: whether the method takes the whole message, and so whatever values a URL has.
    ///   - documentation: what it is for.
    ///   - body: turns a message into a value, on the module's loop.
    @inlinable
    public init<Value: Sendable>(
        _ pattern: String,
        action: String,
        parameters: [RouteDescription.Parameter] = [],
        takesMessage: Bool = false,
        documentation: String = "",
        _ body: @escaping @Sendable (isolated Module, Message) throws -> Value
    ) {
        // A handler that cannot suspend is called on the loop of its mailbox only, which is the actor's.
        self.init(pattern, action, parameters, Value.self, documentation, takesMessage: takesMessage) {
            module in
            .immediate(ImmediateBody(unsafe IsolatedBody(body).unisolated(module)))
        }
    }

    /// Makes a route whose code may suspend.
    ///
    /// Parameters are those of a route whose code answers at once.
    @inlinable
    public init<Value: Sendable>(
        _ pattern: String,
        action: String,
        parameters: [RouteDescription.Parameter] = [],
        takesMessage: Bool = false,
        documentation: String = "",
        _ body: @escaping @Sendable (isolated Module, Message) async throws -> Value
    ) {
        self.init(pattern, action, parameters, Value.self, documentation, takesMessage: takesMessage) {
            module in
            .suspending(ActorCode(module, body))
        }
    }

    /// Makes a route of a service's method, which is called in place if the actor's method cannot suspend.
    ///
    /// `@Service` writes it. Parameters are those of a route whose code answers at once, and `method`: the
    /// full name of the method, by which ``ServiceRoutes/calling(_:)`` finds the actor's.
    public init<Value: Sendable>(
        _ pattern: String,
        action: String,
        method: String,
        parameters: [RouteDescription.Parameter] = [],
        documentation: String = "",
        _ body: @escaping @Sendable (isolated Module, Message) async throws -> Value
    ) {
        self.init(pattern, action: action, parameters: parameters, documentation: documentation, body)
        let signature = ServiceSignature(method, parameters)
        self.immediate = { methods in
            methods.lazy.compactMap { $0.code(of: signature, returning: Value.self) }.first.map { makeBody in
                Self(pattern, action, parameters, Value.self, documentation) { module in
                    .immediate(ImmediateBody(makeBody(module)))
                }
            }
        }
    }

    /// Makes a route of a service's method, whose result has a type that `@Service` has written down.
    ///
    /// Parameters are those of the route of a service's method, and `reply`, which says the type of what the
    /// method returns.
    public init<Reply: ServiceReply>(
        _ pattern: String,
        action: String,
        method: String,
        parameters: [RouteDescription.Parameter] = [],
        documentation: String = "",
        reply: Reply.Type,
        _ body: @escaping @Sendable (isolated Module, Message) async throws -> Reply.Value
    ) {
        self.init(
            pattern,
            action: action,
            method: method,
            parameters: parameters,
            documentation: documentation,
            body
        )
    }

    /// The same route with the errors that a type declares for callers, for documents.
    ///
    /// `@Route` writes it for a method that says `throws(OrderError)`; a type that is not a
    /// ``WaybillRouting/ModuleError`` changes nothing.
    public func throwing(_ type: any Error.Type) -> Self {
        var route = self
        route.description = self.description.throwing(type)
        return route
    }

    /// The route of a service's method, called in place if one of these methods is the one that it calls.
    func calling(_ methods: [ModuleMethod<Module>]) -> Self { self.immediate?(methods) ?? self }

    @usableFromInline
    init(
        _ pattern: String,
        _ action: String,
        _ parameters: [RouteDescription.Parameter],
        _ reply: any Any.Type,
        _ documentation: String,
        takesMessage: Bool = false,
        _ makeCode: @escaping @Sendable (Module) -> HandlerCode
    ) {
        var description = RouteDescription(
            pattern,
            "\(Module.self)",
            action,
            parameters,
            TypeName.of(reply),
            DescribedType(reply),
            documentation
        )
        description.takesMessage = takesMessage
        self.description = description
        self.makeCode = makeCode
    }
}
