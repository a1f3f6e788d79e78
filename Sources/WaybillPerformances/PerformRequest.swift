public import WaybillRouting

/// What a router makes a destination for: the caller's settings, where the caller comes from, and how the
/// destination is to appear.
///
/// ```swift
/// nonisolated(nonsending) func makeDestination(
///     _ request: PerformRequest<PlayerSettings>
/// ) async throws -> (any Player)? {
///     MoviePlayer(film: try request.require("film", request.settings.film))
/// }
/// ```
public struct PerformRequest<Settings: Sendable>: Sendable {
    /// What the caller said.
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

    /// A dependency without which there can be no destination.
    ///
    /// - Parameters:
    ///   - name: the dependency, for the message of the error.
    ///   - value: the dependency, if there is one.
    /// - Returns: the dependency.
    /// - Throws: `missingParameter` with the name, which the performance fails with.
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
