public import WaybillRouting

/// A request for a destination: the caller's settings, the caller's origin, and the way to present the
/// destination.
///
/// ```swift
/// nonisolated(nonsending) func makeDestination(
///     _ request: PerformRequest<PlayerSettings>
/// ) async throws -> (any Player)? {
///     MoviePlayer(film: try request.require("film", request.settings.film))
/// }
/// ```
public struct PerformRequest<Settings: Sendable>: Sendable {
    /// The settings of the caller.
    public let settings: Settings

    /// Where the destination is made from, a screen for one; nil if the caller did not say.
    public let source: (any Sendable)?

    /// How the destination is to appear.
    public let transition: PerformTransition

    init(_ settings: Settings, _ origin: PerformOrigin) {
        self.settings = settings
        self.source = origin.source
        self.transition = origin.transition
    }

    /// Returns a dependency that the destination requires.
    ///
    /// - Parameters:
    ///   - name: The name of the dependency, for the message of the error.
    ///   - value: The dependency, or nil.
    /// - Returns: The dependency.
    /// - Throws: `missingParameter` with the name. The performance fails with it.
    public func require<Value>(_ name: String, _ value: Value?) throws(RoutingError) -> Value {
        guard let value else {
            throw RoutingError(
                .missingParameter,
                message: "`\(name)` is required, and the settings, a \(Settings.self), has none"
            )
        }
        return value
    }
}

/// How a destination is to appear, for routers and observers; performances treat all kinds alike.
public typealias PerformTransition = RouteTransition

extension RouteTransition {
    /// It is made, and appears nowhere by itself.
    public static let make: Self = "make"
    /// In front of a part of its source.
    public static let popover: Self = "popover"
    /// Beside its source.
    public static let detail: Self = "detail"
}

/// Where a performance is begun, and how its destination is to appear.
struct PerformOrigin: Sendable {
    var source: (any Sendable)?
    var transition = PerformTransition.make
}
