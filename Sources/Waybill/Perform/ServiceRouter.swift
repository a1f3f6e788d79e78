/// Makes a service on demand, and takes it down again.
///
/// A module is there as long as it is installed. A router is for what is made when somebody asks for it, with
/// what that caller wants of it: a screen, a session, a player.
///
/// ```swift
/// struct PlayerRouter: ServiceRouter {
///     func makeDestination() -> (any Player)? { MoviePlayer() }
///     func prepare(_ player: any Player) async throws { try await player.load() }
///     func remove(_ player: any Player) async throws { try await player.stop() }
/// }
/// try bus.provide((any Player).self, by: PlayerRouter())
/// ```
///
/// A ``Performance`` calls these methods one after the other, wherever its caller is.
public protocol ServiceRouter<Destination>: Sendable {
    /// What is made: a protocol, as `any Player`.
    associatedtype Destination: Sendable

    /// Makes the destination; nil if there is none to be had now.
    nonisolated(nonsending) func makeDestination() async throws -> Destination?

    /// Gives the destination what it needs, after its caller has done the same.
    nonisolated(nonsending) func prepare(_ destination: Destination) async throws

    /// Looks whether the destination has all that it needs; throws if not.
    nonisolated(nonsending) func check(_ destination: Destination) async throws

    /// Takes the destination down.
    nonisolated(nonsending) func remove(_ destination: Destination) async throws

    /// Whether a destination has to be removed before another one is made; no by default.
    var mustBeRemovedFirst: Bool { get }
}

extension ServiceRouter {
    /// Does nothing.
    public nonisolated(nonsending) func prepare(_ destination: Destination) async throws {}

    /// Finds all in order.
    public nonisolated(nonsending) func check(_ destination: Destination) async throws {}

    /// Does nothing: letting go of the destination is enough.
    public nonisolated(nonsending) func remove(_ destination: Destination) async throws {}

    /// No.
    public var mustBeRemovedFirst: Bool { false }
}
