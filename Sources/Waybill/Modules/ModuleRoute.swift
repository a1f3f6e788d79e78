internal import WaybillRouting

/// A route of a module: its description, and the code that handles it.
///
/// `@Route` generates a `ModuleRoute` for each method. You can also write a route by hand:
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
    /// The description of the route.
    public private(set) var description: RouteDescription

    let makeCode: @Sendable (Module) -> HandlerCode

    /// A closure that returns the route with code that cannot suspend, if the given methods include the
    /// route's method; nil for a route that does not belong to a service.
    private var synchronous: (@Sendable ([ModuleMethod<Module>]) -> Self?)?

    /// Creates a route whose code cannot suspend.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the URLs that the route handles.
    ///   - action: The name of the method.
    ///   - parameters: The parameters that the method reads.
    ///   - takesMessage: Whether the method takes the whole message, and may read any of its values.
    ///   - documentation: The documentation of the route.
    ///   - body: A closure that turns a message into a value, on the module's loop.
    @inlinable
    public init<Value: Sendable>(
        _ pattern: String,
        action: String,
        parameters: [RouteDescription.Parameter] = [],
        takesMessage: Bool = false,
        documentation: String = "",
        _ body: @escaping @Sendable (isolated Module, Message) throws -> Value
    ) {
        // The bus calls a handler that cannot suspend only on the loop of its mailbox, the loop of the actor.
        self.init(
            pattern,
            action: action,
            parameters: parameters,
            reply: Value.self,
            documentation: documentation,
            takesMessage: takesMessage
        ) { module in
            .synchronous(SynchronousBody(unsafe IsolatedBody(body).unisolated(module)))
        }
    }

    /// Creates a route whose code may suspend.
    ///
    /// The initializer for code that cannot suspend describes the parameters.
    @inlinable
    public init<Value: Sendable>(
        _ pattern: String,
        action: String,
        parameters: [RouteDescription.Parameter] = [],
        takesMessage: Bool = false,
        documentation: String = "",
        _ body: @escaping @Sendable (isolated Module, Message) async throws -> Value
    ) {
        self.init(
            pattern,
            action: action,
            parameters: parameters,
            reply: Value.self,
            documentation: documentation,
            takesMessage: takesMessage
        ) { module in
            .suspending(ActorCode(module, body))
        }
    }

    /// Creates a route of a service's method, which is called in place if the actor's method cannot suspend.
    ///
    /// `@Service` generates the call. `method` is the full name of the method, by which
    /// ``ServiceRoutes/calling(_:)`` finds the actor's method. The initializer for code that cannot suspend
    /// describes the other parameters.
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
        self.synchronous = { methods in
            methods.lazy.compactMap { $0.code(of: signature, returning: Value.self) }.first.map { makeBody in
                Self(
                    pattern,
                    action: action,
                    parameters: parameters,
                    reply: Value.self,
                    documentation: documentation
                ) { module in .synchronous(SynchronousBody(makeBody(module))) }
            }
        }
    }

    /// Creates a route of a service's method, with a result type that `@Service` has declared.
    ///
    /// The initializer for a service's method describes the other parameters.
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

    /// Returns a copy with the errors that a type declares for callers, for documents.
    ///
    /// `@Route` generates the call for a route with a typed throws clause. If the type is not a
    /// ``/WaybillRouting/ModuleError``, the copy is unchanged.
    public func throwing(_ type: any Error.Type) -> Self {
        var route = self
        route.description = self.description.throwing(type)
        return route
    }

    /// Returns a copy with the types of the progress replies and of their answers, for documents.
    ///
    /// `@Route` generates the call for a method with a parameter of type ``ProgressReplies``.
    public func reporting<Update, Answer>(_ type: ProgressReplies<Update, Answer>.Type) -> Self {
        var route = self
        route.description.progress = RouteDescription.Progress(update: Update.self, answer: Answer.self)
        return route
    }

    /// Returns the route with code that is called in place, if the given methods include the route's method.
    func calling(_ methods: [ModuleMethod<Module>]) -> Self { self.synchronous?(methods) ?? self }

    @usableFromInline
    init(
        _ pattern: String,
        action: String,
        parameters: [RouteDescription.Parameter],
        reply: any Any.Type,
        documentation: String,
        takesMessage: Bool = false,
        _ makeCode: @escaping @Sendable (Module) -> HandlerCode
    ) {
        var description = RouteDescription(
            pattern: pattern,
            module: "\(Module.self)",
            action: action,
            parameters: parameters,
            reply: TypeName.of(reply),
            documentation: documentation
        )
        description.replyType = reply
        description.takesMessage = takesMessage
        self.description = description
        self.makeCode = makeCode
    }
}
