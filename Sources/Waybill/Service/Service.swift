#if Macros

/// Makes a service of a protocol: whoever has the protocol calls it, whoever conforms to it answers, and the
/// calls travel as messages.
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

#endif
