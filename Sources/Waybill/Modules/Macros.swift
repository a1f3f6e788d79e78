#if Macros

/// Turns an actor into a module, whose methods with ``Route()`` handle the URLs below a base URL.
///
/// ```swift
/// @Module("app://user")
/// actor UserModule {
///     /// The details of a user.
///     @Route func detail(uid: Int, name: String = "") -> User { User(uid: uid, name: name) }
///
///     @Route("/:uid/avatar") func avatar(uid: Int) async throws -> String { "avatar of \(uid)" }
/// }
///
/// try await bus.install { UserModule() }
/// let user: User = try await bus.route("app://user/detail?uid=1&name=Lili")
/// let same = try await bus.route(UserModule.urls.detail(uid: 1, name: "Lili"))
/// ```
///
/// The macro generates the requirements of ``Module-protocol``, as a person would write them by hand:
///
/// - `context`, unless the actor has a property `context` of type ``ModuleContext``. If `context` has another
///   type, the generated property is called `moduleContext`. A `nonisolated` property `context` needs a type
///   in its declaration, unless its initial value begins with the name ``ModuleContext``.
/// - `url` and `routes`.
/// - `urls`, which has a function for each route. The function makes a ``/WaybillRouting/TypedURL``, and the
///   compiler checks its parameters and its reply type.
/// - `services`, which has an element for each protocol with ``Service(_:)`` in the inheritance clause.
///
/// <doc:Modules> describes the generated code. Patterns are checked at compile time, with the conventions
/// of `RoutingConventions.waybill`.
///
/// - Parameter url: The base URL of the routes, a literal without interpolation.
@attached(
    member,
    names: named(context),
    named(moduleContext),
    named(url),
    named(routes),
    named(services),
    named(urls)
)
@attached(extension, conformances: Module)
public macro Module(_ url: String) = #externalMacro(module: "WaybillPlugin", type: "ModuleMacro")

/// Reports that the URL of a ``Module(_:)`` is missing, and suggests a URL.
@attached(member)
public macro Module() = #externalMacro(module: "WaybillPlugin", type: "ModuleMacro")

/// Turns a method of a ``Module(_:)`` into a route, whose path is the method's name.
///
/// `@Route func detail(uid: Int)` in a module of `app://user` handles `app://user/detail?uid=1`. Each
/// parameter is read from the message by its type and its name, the second one in `of uid: Int`. A parameter
/// of type ``Message`` receives the whole message, and a parameter of type ``ProgressReplies`` sends progress
/// replies. The method cannot be private, because any code can reach its URL.
///
/// The return value of the method is the reply, and an error that the method throws is the failure. The bus
/// calls a method that is not `async` in place, without a task.
@attached(peer)
public macro Route() = #externalMacro(module: "WaybillPlugin", type: "RouteMacro")

/// Turns a method of a ``Module(_:)`` into a route with the given path.
///
/// - Parameter path: A pattern below the module's URL, for example `/:uid/avatar`, or a complete pattern, in
///   a literal without interpolation. The method must read all captured values: each value with a parameter
///   of its name, or all values with a parameter of type ``Message``.
@attached(peer)
public macro Route(_ path: String) = #externalMacro(module: "WaybillPlugin", type: "RouteMacro")

/// Turns a protocol into a service, each of whose methods is called with a message.
///
/// The declaration of the actor that provides it must name the protocol, alone or in a composition.
///
/// ```swift
/// // In a target that all modules import.
/// @Service("app://time")
/// public protocol TimeService: Sendable {
///     /// Returns the time in a city.
///     func time(in city: String) async throws -> String
/// }
///
/// // In the module that provides it.
/// @Module("app://clock")
/// actor ClockModule: TimeService {
///     func time(in city: String) -> String { "noon in \(city)" }
/// }
///
/// // Anywhere.
/// let clock = try bus.service((any TimeService).self)
/// let noon = try await clock.time(in: "Oslo")              // a message to app://time/time
/// ```
///
/// The macro generates a proxy, `TimeServiceProxy` in this example, and an overload of
/// ``serviceRoutes(of:in:)`` that `@Module` calls. The protocol must inherit only from `Sendable` and be
/// declared at file level. Its methods must be `async throws` and have different names. <doc:Services>
/// describes the generated code.
///
/// - Parameter url: The base URL of the methods, a literal without interpolation and parameters.
@attached(peer, names: suffixed(Proxy), named(serviceRoutes))
public macro Service(_ url: String) = #externalMacro(module: "WaybillPlugin", type: "ServiceMacro")

/// Reports that the URL of a ``Service(_:)`` is missing, and suggests a URL.
@attached(peer, names: suffixed(Proxy), named(serviceRoutes))
public macro Service() = #externalMacro(module: "WaybillPlugin", type: "ServiceMacro")

#endif
