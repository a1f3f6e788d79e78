public import Waybill
public import WaybillRouting

/// A type that makes a service on demand, and removes it again.
///
/// A service of a module exists while the module is installed. A router makes its service, for example a
/// screen, a session, or a player, when a caller requests it. The caller's configuration prepares the
/// service.
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
/// A ``Performance`` calls these methods one after the other, in the isolation of the performance's caller.
public protocol ServiceRouter<Destination>: Sendable {
    /// The type of the service, usually a protocol such as `any Player`.
    associatedtype Destination: Sendable

    /// The type of the settings that callers pass to the router; `Void` for none.
    associatedtype Settings: Sendable = Void

    /// The settings for callers that pass none; nil if callers must pass settings.
    var defaultSettings: Settings? { get }

    /// Returns a new destination, or nil if none is available now.
    ///
    /// Implement this method, or ``makeDestination()`` if the router needs neither settings nor source.
    nonisolated(nonsending) func makeDestination(
        _ request: PerformRequest<Settings>
    ) async throws -> Destination?

    /// Returns a new destination that does not depend on the caller, or nil if none is available now.
    nonisolated(nonsending) func makeDestination() async throws -> Destination?

    /// Prepares the destination, after the configuration of the performance's caller has prepared it.
    nonisolated(nonsending) func prepare(_ destination: Destination) async throws

    /// Checks that the destination has everything that it needs, and throws an error if something is missing.
    nonisolated(nonsending) func check(_ destination: Destination) async throws

    /// Removes the destination.
    nonisolated(nonsending) func remove(_ destination: Destination) async throws

    /// Whether a destination must be removed before another destination is made; false by default.
    var mustBeRemovedFirst: Bool { get }
}

extension ServiceRouter {
    /// Calls ``makeDestination()`` for every request.
    public nonisolated(nonsending) func makeDestination(
        _ request: PerformRequest<Settings>
    ) async throws -> Destination? { try await self.makeDestination() }

    /// Returns nil.
    ///
    /// A router that does not need the request implements this method instead of ``makeDestination(_:)``.
    public nonisolated(nonsending) func makeDestination() async throws -> Destination? { nil }

    /// The value `()` if the settings are `Void`; otherwise nil, so that callers must pass settings.
    public var defaultSettings: Settings? { () as? Settings }

    /// Does nothing.
    public nonisolated(nonsending) func prepare(_ destination: Destination) async throws {}

    /// Accepts every destination.
    public nonisolated(nonsending) func check(_ destination: Destination) async throws {}

    /// Does nothing, for destinations that only need to be released.
    public nonisolated(nonsending) func remove(_ destination: Destination) async throws {}

    /// The value false.
    public var mustBeRemovedFirst: Bool { false }
}

/// A caller's configuration of a ``Performance``: the source and the transition of its destination, and the
/// handlers.
///
/// The handlers are called each time the performance's destination is made or removed. The handlers that a
/// caller passes to ``Performance/perform(onSuccess:onFailure:)`` are called only for that call. All handlers
/// run in the isolation of the performance's caller.
public struct PerformConfiguration<Destination: Sendable>: Sendable {
    /// Prepares the destination for this caller, before the router prepares it.
    public var prepare: (@Sendable (Destination) async throws -> Void)?

    /// Called when the destination has been made and shown.
    public var succeeded: (@Sendable (Destination) -> Void)?

    /// Called when the destination could not be made, prepared, shown or removed.
    public var failed: (@Sendable (RoutingError) -> Void)?

    /// Called after ``failed``, with the action that failed.
    public var actionFailed: (@Sendable (PerformAction, RoutingError) -> Void)?

    /// Called when the destination has been removed.
    public var removed: (@Sendable () -> Void)?

    /// The place from which the destination is requested, for example a screen, for the router and for
    /// observers.
    public var source: (any Sendable)?

    /// The transition by which the destination appears.
    ///
    /// The bus's ``PerformPresenter`` shows the destination, unless the transition is `make`.
    public var transition = PerformTransition.make

    /// Called last, after ``succeeded``, ``removed`` or ``failed``, with whether the action succeeded.
    public var completed: (@Sendable (Bool) -> Void)?

    /// Called for each change of the performance's state.
    public var stateChanged: (@Sendable (_ old: PerformState, _ new: PerformState) -> Void)?

    init() {}
}

/// The actions of a performance.
@nonexhaustive
public enum PerformAction: String, Sendable, Hashable {
    /// The destination is made.
    case perform
    /// The destination is removed.
    case remove
}

extension MessageBus {
    /// Registers a router that makes a service on demand.
    ///
    /// - Parameters:
    ///   - service: The protocol.
    ///   - name: The name of the provider, if there is more than one.
    ///   - router: A router that makes the service.
    ///   - fileID: The file of the registration, for the text of a `conflict` error.
    ///   - line: The line of the registration, for the text of a `conflict` error.
    /// - Returns: The registration of the router. When the registration is cancelled, destinations that the
    ///   router has made are not removed.
    /// - Throws: `conflict` if the protocol already has a provider with this name; `shutDown`.
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

    /// Registers a router for a protocol that is not the router's own destination type.
    ///
    /// Use this method to provide several protocols by one router.
    ///
    /// ```swift
    /// try bus.provide((any Reader).self, by: EditorRouter()) { $0 }
    /// try bus.provide((any Editor).self, by: EditorRouter()) { $0 }
    /// ```
    ///
    /// - Parameters:
    ///   - service: The protocol.
    ///   - name: The name of the provider, if there is more than one.
    ///   - router: A router that makes the destination.
    ///   - fileID: The file of the registration, for the text of a `conflict` error.
    ///   - line: The line of the registration, for the text of a `conflict` error.
    ///   - view: A closure that converts the destination to the service. If the service is an object, it must
    ///     keep the destination alive, because the router can remove only a destination that exists.
    /// - Returns: The registration of the router. When the registration is cancelled, destinations that the
    ///   router has made are not removed.
    /// - Throws: `conflict` if the protocol already has a provider with this name; `shutDown`.
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

    /// Reports, when a program is compiled, that the type of a router's destination is not the type of the
    /// service.
    ///
    /// Without this method, Swift 6.3 fails to produce a diagnostic.
    @available(
        *,
        unavailable,
        message:
            "the router makes another type; convert the destination: bus.provide(service, by: router) { $0 }"
    )
    @discardableResult
    public func provide<Service: Sendable, Router: ServiceRouter>(
        _ service: Service.Type,
        named name: String? = nil,
        by router: Router,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> Registration {
        fatalError("`provide(_:by:)` was called with a router that does not make the type of the service")
    }

    /// Creates a performance for a service that is made on demand.
    ///
    /// If an adapter provides the protocol (``/Waybill/MessageBus/adapt(_:from:fileID:line:_:)``), the router
    /// of the adapted protocol makes and removes the destination.
    ///
    /// - Parameters:
    ///   - service: The protocol.
    ///   - name: The name of the provider, if there is more than one.
    ///   - configure: A closure that changes the configuration of the performance, and is called at once.
    /// - Returns: The performance, which makes the service once or several times.
    /// - Throws: `noHandler` if no router makes the service.
    public func performance<Destination: Sendable>(
        of service: Destination.Type,
        named name: String? = nil,
        _ configure: (inout PerformConfiguration<Destination>) -> Void = { _ in }
    ) throws(RoutingError) -> Performance<Destination> {
        let box = try self.maker(of: service, named: name, as: RouterBox<Destination>.self)
        return self.performance(box.makeMaker(), settings: nil, configure)
    }

    /// Creates a performance for a service that is made on demand with settings.
    ///
    /// - Parameters:
    ///   - service: The protocol.
    ///   - name: The name of the provider, if there is more than one.
    ///   - settings: The settings for the router, of its type ``ServiceRouter/Settings``.
    ///   - configure: A closure that changes the configuration of the performance, and is called at once.
    /// - Returns: The performance, which makes the service once or several times.
    /// - Throws: `typeMismatch` if the settings do not have the type of the router's settings; `noHandler` if
    ///   no router makes the service.
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

    /// Creates a performance for a router that the caller passes.
    ///
    /// The router need not be registered on the bus.
    ///
    /// - Parameters:
    ///   - router: A router that makes the destination.
    ///   - settings: The settings for the router; nil for the router's default.
    ///   - configure: A closure that changes the configuration of the performance, and is called at once.
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

    /// Sets the handler that the bus calls for each performance that fails.
    ///
    /// The handler is called after the handlers of the failed performance. A bus has one such handler. A new
    /// handler replaces the previous handler.
    public func registerPerformFailed(_ handler: @escaping @Sendable (RoutingError) -> Void) {
        self.registerPerformFailed { _, error in handler(error) }
    }

    /// Sets the handler that the bus calls with the failed action for each performance that fails.
    ///
    /// A bus has one such handler. A new handler replaces the previous handler.
    public func registerPerformFailed(
        _ handler: @escaping @Sendable (PerformAction, RoutingError) -> Void
    ) {
        self.attachments.set(PerformFailedHandler(body: handler))
    }
}

/// The bus's handler for failed performances.
struct PerformFailedHandler: Sendable {
    let body: @Sendable (PerformAction, RoutingError) -> Void
}
