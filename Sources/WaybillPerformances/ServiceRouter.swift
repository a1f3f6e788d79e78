public import Waybill
public import WaybillRouting

/// Creates a service on demand, and removes it again.
///
/// A module exists as long as it is installed. A router creates objects for which a caller asks, with the
/// configuration of that caller: a screen, a session, a player.
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
/// A ``Performance`` calls these methods one after another, with the isolation of its caller.
public protocol ServiceRouter<Destination>: Sendable {
    /// The type of the created object: a protocol, for example `any Player`.
    associatedtype Destination: Sendable

    /// The type of the settings from the caller; `Void` for a router without settings.
    associatedtype Settings: Sendable = Void

    /// The settings for callers that pass none; nil if they have to.
    var defaultSettings: Settings? { get }

    /// Creates the destination; nil if there is none to be had now.
    ///
    /// Implement this one, or ``makeDestination()`` where neither settings nor origin matter.
    nonisolated(nonsending) func makeDestination(
        _ request: PerformRequest<Settings>
    ) async throws -> Destination?

    /// Creates the destination for every caller alike; nil if there is none to be had now.
    nonisolated(nonsending) func makeDestination() async throws -> Destination?

    /// Gives the destination what it needs, after its caller has done the same.
    nonisolated(nonsending) func prepare(_ destination: Destination) async throws

    /// Checks that the destination has all its dependencies, and throws an error otherwise.
    nonisolated(nonsending) func check(_ destination: Destination) async throws

    /// Takes the destination down.
    nonisolated(nonsending) func remove(_ destination: Destination) async throws

    /// Whether a destination has to be removed before another one is made; no by default.
    var mustBeRemovedFirst: Bool { get }
}

extension ServiceRouter {
    /// Creates the same for every caller.
    public nonisolated(nonsending) func makeDestination(
        _ request: PerformRequest<Settings>
    ) async throws -> Destination? { try await self.makeDestination() }

    /// Has no destination.
    public nonisolated(nonsending) func makeDestination() async throws -> Destination? { nil }

    /// `()` where there is nothing to say; callers have to pass all others.
    public var defaultSettings: Settings? { () as? Settings }

    /// Does nothing.
    public nonisolated(nonsending) func prepare(_ destination: Destination) async throws {}

    /// Finds all in order.
    public nonisolated(nonsending) func check(_ destination: Destination) async throws {}

    /// Does nothing: releasing the destination is enough.
    public nonisolated(nonsending) func remove(_ destination: Destination) async throws {}

    /// No.
    public var mustBeRemovedFirst: Bool { false }
}

/// A caller's configuration of a ``Performance``: preparations of the destination and handlers of events.
///
/// The closures are called each time that the performance is performed. The closures of
/// ``Performance/perform(onSuccess:onFailure:)`` are called only for that call. All closures run with the
/// isolation of the performance's caller.
public struct PerformConfiguration<Destination: Sendable>: Sendable {
    /// Prepares the destination before the router does: sets what this caller needs.
    public var prepare: (@Sendable (Destination) async throws -> Void)?

    /// The destination has been made.
    public var succeeded: (@Sendable (Destination) -> Void)?

    /// It could not be made, prepared or removed.
    public var failed: (@Sendable (RoutingError) -> Void)?

    /// Called when an action fails, with the action and the error.
    public var actionFailed: (@Sendable (PerformAction, RoutingError) -> Void)?

    /// The destination has been taken down.
    public var removed: (@Sendable () -> Void)?

    /// Where the destination is made from, for the router and for observers.
    public var source: (any Sendable)?

    /// How the destination is to appear: the bus's ``PerformPresenter`` shows it, unless this is `make`.
    public var transition = PerformTransition.make

    /// It is over, after ``succeeded`` or ``failed``, and whether well.
    public var completed: (@Sendable (Bool) -> Void)?

    /// Called at each change of the state.
    public var stateChanged: (@Sendable (_ old: PerformState, _ new: PerformState) -> Void)?

    init() {}
}

/// An action of a performance.
@nonexhaustive
public enum PerformAction: String, Sendable, Hashable {
    /// The destination is made.
    case perform
    /// The destination is taken down.
    case remove
}

extension MessageBus {
    /// Registers a router that creates a service on demand.
    ///
    /// - Parameters:
    ///   - service: The protocol of the service.
    ///   - name: The name of the provider, if there are several.
    ///   - router: The router.
    ///   - fileID: The file of the registration, for the message of a conflict.
    ///   - line: The line of the registration, for the message of a conflict.
    /// - Returns: The registration. Cancelling it does not affect created destinations.
    /// - Throws: `conflict` if the protocol has a provider of that name, or `shutDown`.
    @discardableResult
    public func provide<Router: ServiceRouter>(
        _ service: Router.Destination.Type,
        named name: String? = nil,
        by router: Router,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> Registration {
        let box = RouterBox<Router.Destination>(settings: Router.Settings.self) {
            TypedRouter(router: router)
        }
        return try self.provideOnDemand(service, named: name, by: box, fileID: fileID, line: line)
    }

    /// Has a service made on demand by a router whose destination is more than this one service.
    ///
    /// ```swift
    /// try bus.provide((any Reader).self, by: EditorRouter()) { $0 }
    /// try bus.provide((any Editor).self, by: EditorRouter()) { $0 }
    /// ```
    ///
    /// - Parameters:
    ///   - service: The protocol.
    ///   - name: Which provider it is, if there are several.
    ///   - router: Makes the destination.
    ///   - fileID: Where it is said, for the message of a conflict.
    ///   - line: Where it is said, for the message of a conflict.
    ///   - view: The destination as the service.
    /// - Returns: The registration of the router; destinations that it has made stay when that is cancelled.
    /// - Throws: `conflict` if the protocol has a provider of that name, `shutDown`.
    @discardableResult
    public func provide<Service: Sendable, Router: ServiceRouter>(
        _ service: Service.Type,
        named name: String? = nil,
        by router: Router,
        fileID: String = #fileID,
        line: Int = #line,
        as view: @escaping @Sendable (Router.Destination) -> Service
    ) throws(RoutingError) -> Registration {
        let box = RouterBox<Service>(settings: Router.Settings.self) {
            AdaptedRouter(TypedRouter(router: router), view)
        }
        return try self.provideOnDemand(service, named: name, by: box, fileID: fileID, line: line)
    }

    /// Explains how a router with another destination type can provide a service.
    ///
    /// Without this declaration, Swift 6.3 fails to produce a diagnostic.
    @available(
        *,
        unavailable,
        message:
            "the router makes another type; say how that is the service: bus.provide(service, by: router) { $0 }"
    )
    @discardableResult
    public func provide<Service: Sendable, Router: ServiceRouter>(
        _ service: Service.Type,
        named name: String? = nil,
        by router: Router,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> Registration {
        fatalError("a call of it does not compile")
    }

    /// Returns a performance of a service that is created on demand.
    ///
    /// If an adapter provides the protocol (``Waybill/MessageBus/adapt(_:from:fileID:line:_:)``), the router
    /// of the adapted protocol creates and removes the underlying object.
    ///
    /// - Parameters:
    ///   - service: The protocol of the service.
    ///   - name: The name of the provider, if there are several.
    ///   - configure: Configures the performance. It is called immediately.
    /// - Returns: The performance, which can be performed several times.
    /// - Throws: `noHandler` if no router creates the service.
    public func performance<Destination: Sendable>(
        of service: Destination.Type,
        named name: String? = nil,
        _ configure: (inout PerformConfiguration<Destination>) -> Void = { _ in }
    ) throws(RoutingError) -> Performance<Destination> {
        let box = try self.maker(of: service, named: name, as: RouterBox<Destination>.self)
        return self.performance(box.makeMaker(), settings: nil, configure)
    }

    /// A service that is to be made on demand, by settings.
    ///
    /// - Parameters:
    ///   - service: The protocol.
    ///   - name: Which provider, if there are several.
    ///   - settings: The settings for the router, of its type ``ServiceRouter/Settings``.
    ///   - configure: Changes the configuration of the performance; called at once.
    /// - Returns: The performance, which makes the service once or several times.
    /// - Throws: `typeMismatch` for settings of another type than the router's; `noHandler` if no router
    ///   makes the service.
    public func performance<Destination: Sendable>(
        of service: Destination.Type,
        named name: String? = nil,
        settings: some Sendable,
        _ configure: (inout PerformConfiguration<Destination>) -> Void = { _ in }
    ) throws(RoutingError) -> Performance<Destination> {
        let box = try self.maker(of: service, named: name, as: RouterBox<Destination>.self)
        try box.check(settings)
        return self.performance(box.makeMaker(), settings: settings, configure)
    }

    /// A destination that a router makes which the caller knows, and which need not be provided under any
    /// protocol.
    ///
    /// - Parameters:
    ///   - router: Makes it.
    ///   - settings: The settings for the router; nil for the router's default.
    ///   - configure: Changes the configuration of the performance; called at once.
    /// - Returns: The performance, which makes the destination once or several times.
    public func performance<Router: ServiceRouter>(
        by router: Router,
        settings: Router.Settings? = nil,
        _ configure: (inout PerformConfiguration<Router.Destination>) -> Void = { _ in }
    ) -> Performance<Router.Destination> {
        self.performance(TypedRouter(router: router), settings: settings, configure)
    }

    private func performance<Destination: Sendable>(
        _ maker: any DestinationMaker<Destination>,
        settings: (any Sendable)?,
        _ configure: (inout PerformConfiguration<Destination>) -> Void
    ) -> Performance<Destination> {
        var configuration = PerformConfiguration<Destination>()
        configure(&configuration)
        return Performance(
            maker,
            configuration: configuration,
            attachments: self.attachments,
            settings: settings
        )
    }

    /// Sets the handler of every performance that fails, called after the handlers of that performance; there
    /// is one such handler, the last one set.
    public func registerPerformFailed(_ handler: @escaping @Sendable (RoutingError) -> Void) {
        self.registerPerformFailed { _, error in handler(error) }
    }

    /// Registers a handler of failed actions that receives the action.
    public func registerPerformFailed(
        _ handler: @escaping @Sendable (PerformAction, RoutingError) -> Void
    ) {
        self.attachments.set(PerformFailedHandler(body: handler))
    }
}

/// The handler of every performance of a bus that fails.
struct PerformFailedHandler: Sendable {
    let body: @Sendable (PerformAction, RoutingError) -> Void
}
