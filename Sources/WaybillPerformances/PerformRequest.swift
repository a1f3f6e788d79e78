public import WaybillRouting

/// A caller's request to a router: the settings, the source, and the transition of the destination.
///
/// ```swift
/// nonisolated(nonsending) func makeDestination(
///     _ request: PerformRequest<PlayerSettings>
/// ) async throws -> (any Player)? {
///     MoviePlayer(film: try request.require("film", request.settings.film))
/// }
/// ```
public struct PerformRequest<Settings: Sendable>: Sendable {
    /// The settings of the caller, or the router's default settings.
    public let settings: Settings

    /// The place from which the destination is requested, for example a screen; nil if the caller set none.
    public let source: (any Sendable)?

    /// The transition by which the destination is to appear.
    public let transition: PerformTransition

    init(_ settings: Settings, _ origin: PerformOrigin) {
        self.settings = settings
        self.source = origin.source
        self.transition = origin.transition
    }

    /// Returns a dependency that is required for the destination.
    ///
    /// - Parameters:
    ///   - name: The dependency, for the message of the error.
    ///   - value: The dependency, or nil.
    /// - Returns: The dependency.
    /// - Throws: `missingParameter` with the name if the dependency is nil. The performance fails with this
    ///   error.
    public func require<Value>(_ name: String, _ value: Value?) throws(RoutingError) -> Value {
        guard let value else {
            throw RoutingError(
                .missingParameter,
                message:
                    "the service requires a value for `\(name)`, but the settings (\(Settings.self)) have none"
            )
        }
        return value
    }
}

/// The kind of animation or presentation by which a destination appears, for routers and observers.
///
/// A ``Performance`` treats all transitions alike, except `make`.
public typealias PerformTransition = RouteTransition

extension RouteTransition {
    /// The destination is made and not shown.
    public static let make: Self = "make"
    /// The destination appears in front of a part of its source.
    public static let popover: Self = "popover"
    /// The destination appears beside its source.
    public static let detail: Self = "detail"
}

/// The source from which a performance is requested, and the transition by which its destination appears.
struct PerformOrigin: Sendable {
    var source: (any Sendable)?
    var transition = PerformTransition.make
}
