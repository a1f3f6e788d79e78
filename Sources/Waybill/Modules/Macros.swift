#if Macros

/// Makes a module of an actor: its methods with ``Route()`` handle what is below a URL.
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
/// The macro writes what ``Module-protocol`` asks for, as a person would by hand: where the actor lives
/// (unless the actor has a property `context` that is a ``ModuleContext``; if `context` is something else,
/// the macro calls its own property `moduleContext`), its URL, its routes, and `urls`, a function for each
/// route that makes a ``TypedURL`` whose parameters and reply the compiler checks. For each protocol with
/// ``Service(_:)`` that the actor names behind its colon, it writes what provides that. <doc:Modules> shows
/// all of it.
///
/// Patterns are checked while they are compiled, under the conventions of `RoutingConventions.waybill`.
///
/// - Parameter url: what the paths of the routes are below, a literal without interpolation: `app://user`.
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

/// Reports that the URL of a ``Module(_:)`` is missing, and suggests one.
@attached(member)
public macro Module() = #externalMacro(module: "WaybillPlugin", type: "ModuleMacro")

/// Makes a route of a method of a ``Module(_:)``, whose path is the method's name.
///
/// `@Route func detail(uid: Int)` in a module of `app://user` handles `app://user/detail?uid=1`. Each
/// parameter is read from the message by its name and type; of two names, as in `of uid: Int`, it is the
/// second. A parameter of type ``Message`` gets the message itself. The method cannot be private: its URL is
/// reached from everywhere.
///
/// What the method returns is the reply, and what it throws is the failure. A method that is not `async`
/// answers at once, without a task of its own.
@attached(peer)
public macro Route() = #externalMacro(module: "WaybillPlugin", type: "RouteMacro")

/// Makes a route of a method of a ``Module(_:)``, with a path of its own.
///
/// - Parameter path: a pattern below the module's URL, as `/:uid/avatar`; or a whole one, as `app://other/x`.
///   It is a literal without interpolation. What it captures, the method has to read: by a parameter of that
///   name, or by one of type ``Message``.
@attached(peer)
public macro Route(_ path: String) = #externalMacro(module: "WaybillPlugin", type: "RouteMacro")

#endif

#if Macros

/// Makes a service of a protocol: code that imports the protocol calls it, a module that conforms to it
/// answers, and the calls travel as messages.
///
/// ```swift
/// // In a target that all modules import.
/// @Service("app://time")
/// public protocol TimeService: Sendable {
///     /// What time it is in a city.
///     func time(in city: String) async throws -> String
/// }
///
/// // In the module that provides it, by naming it behind the colon of the actor.
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
/// The macro writes a proxy, `TimeServiceProxy` here, and an overload of ``serviceRoutes(of:in:)`` that
/// `@Module` calls. A service inherits from `Sendable` alone, stands at file level, and has methods that are
/// `async throws`, with a name each. <doc:Services> shows all of it.
///
/// - Parameter url: what the methods are below, a literal without interpolation and parameters: `app://time`.
@attached(peer, names: suffixed(Proxy), named(serviceRoutes))
public macro Service(_ url: String) = #externalMacro(module: "WaybillPlugin", type: "ServiceMacro")

/// Reports that the URL of a ``Service(_:)`` is missing, and suggests one.
@attached(peer, names: suffixed(Proxy), named(serviceRoutes))
public macro Service() = #externalMacro(module: "WaybillPlugin", type: "ServiceMacro")

#endif
