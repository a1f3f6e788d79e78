public import Waybill
public import WaybillEventLoop
public import WaybillRouting

/// A navigator creates destinations for URLs, calls presenters to show them, and goes back.
///
/// ```swift
/// import WaybillNavigation
///
/// struct HomeScreen: Decodable, Sendable {}
/// struct ProductScreen: Decodable, Sendable { let id: Int }
///
/// func open(_ presenter: some Presenter) async throws {
///     let bus = MessageBus(configuration: .init(conventions: .navigation))
///     let navigator = try Navigator(bus: bus, presenter: presenter)
///     try navigator.register("app://home", HomeScreen.self)
///     try navigator.register("app://product/:id", ProductScreen.self)
///     try await bus.route("app://root/home")
///     let screen: ProductScreen = try await bus.route("app://push/product/7")
///     try await bus.route("app://back")
///     print(screen, await navigator.state)
/// }
/// ```
///
/// A navigator is a module on the loop of its bus. It performs one step at a time, in the order of the
/// requests. Code within a step must not wait for another step of the same navigator. Such a request is
/// rejected, but the code may send it. The bus retains the navigator while a destination is registered.
///
/// | URL | effect |
/// | --- | --- |
/// | `app://push/product/7`, `app://product/7` | adds a destination on top |
/// | `app://present/product/7` | adds a layer; going back from its bottom dismisses it |
/// | `app://root/product/7` | replaces all destinations |
/// | `app://embed/product/7` | adds a part of the top destination, which is removed with it |
/// | `app://show/product/7`, other transitions | adds a destination on top; the presenter interprets them |
/// | `app://back`, `app://back?count=2` | undoes the latest transitions |
/// | `app://back/product/7` | removes the destinations above it |
/// | `app://root` | removes all destinations except the bottom |
/// | `app://remove/product/7` | removes it; a layer is removed with the destinations above it |
public actor Navigator: LoopBound {
    /// The loop of the bus.
    public nonisolated let eventLoop: EventLoop

    nonisolated let bus: MessageBus
    nonisolated let observers = NavigationObservers()
    nonisolated let turns = TurnQueue()
    nonisolated let rules = Locked(Rules())
    var machine = NavigationMachine()
    var living: [Int: LivingDestination] = [:]
    var presenters: [NavigationState.PresenterID: any Presenter]
    /// The step that is being taken, as a message.
    var step: CorrelationID?

    /// The inspectors and handlers that examine requests before the navigator performs them.
    struct Rules: Sendable {
        var inspectors: [any NavigationInspector] = []
        var handler: (@Sendable (NavigationRequest) async throws -> NavigationDecision)?
        /// The schemes whose unmatched URLs come to the handler.
        var uncaughtSchemes: Set<String> = []
    }

    /// Creates an empty navigator, and registers `back`, `root` and `remove` for its schemes.
    ///
    /// URLs have transitions if the bus's conventions define them:
    /// ``WaybillRouting/RoutingConventions/navigation`` or the conventions of FTRouter.
    ///
    /// - Parameters:
    ///   - bus: The bus of the requests. The navigator does not keep it open.
    ///   - presenter: The presenter of requests that name none, as ``NavigationState/mainPresenter``.
    ///   - schemes: The schemes of the navigator's URLs; the bus's default scheme if nil.
    /// - Throws: `conflict` if a handler is registered for `scheme://` alone.
    public init(bus: MessageBus, presenter: some Presenter, schemes: [String]? = nil) throws(RoutingError) {
        self.eventLoop = bus.eventLoop
        self.bus = bus.unowned
        self.presenters = [NavigationState.mainPresenter: presenter]
        for scheme in schemes ?? [bus.defaultScheme] {
            _ = try self.register(nil, for: "\(scheme)://", fileID: #fileID, line: #line)
        }
    }
}

// The shown destinations.
extension Navigator {
    /// The shown destinations as a value.
    public var state: NavigationState { self.machine.state }

    /// Returns the destinations of a presenter.
    ///
    /// - Parameter presenter: The presenter; nil for the active one.
    /// - Returns: The destinations, top last.
    public func destinations(of presenter: NavigationState.PresenterID? = nil) -> [PresentedDestination] {
        self.presented(self.state.stack(of: presenter))
    }

    /// Adds a presenter, or replaces the presenter of that name.
    ///
    /// - Parameters:
    ///   - presenter: The presenter of requests that name it in ``NavigationRequest/presenterHeader``. It
    ///     does not receive the destinations of its predecessor.
    ///   - name: The name of the presenter.
    public func setPresenter(_ presenter: some Presenter, named name: NavigationState.PresenterID) {
        self.presenters[name] = presenter
    }

    /// Creates a presenter the presenter of requests that name none, for example after a tab was selected.
    ///
    /// - Parameter presenter: The name of the presenter.
    /// - Throws: `noHandler` if no presenter has that name.
    public func activate(_ presenter: NavigationState.PresenterID) async throws(RoutingError) {
        _ = try self.presenter(presenter)
        try await self.takeTurn("") { self.machine.activate(presenter) }
    }
}

// Inspectors and observers.
extension Navigator {
    /// Adds an inspector after the existing ones.
    public nonisolated func addInspector(_ inspector: some NavigationInspector) {
        self.rules.withLock { $0.inspectors.append(inspector) }
    }

    /// Sets the handler that sees every request first, and may take it over; there is one, the last one set.
    ///
    /// - Parameters:
    ///   - schemes: Whose URLs come to it as well where no pattern matches them; their requests have no
    ///     ``NavigationRequest/destinationName``.
    ///   - handler: Decides.
    /// - Throws: `conflict` if a scheme has a connector already; `invalidPattern` for a text that is not a
    ///   scheme.
    public nonisolated func setGlobalHandler(
        uncaughtOf schemes: [String] = [],
        _ handler: @escaping @Sendable (NavigationRequest) async throws -> NavigationDecision
    ) throws(RoutingError) {
        for scheme in schemes { try self.connectUncaught(scheme) }
        self.rules.withLock { $0.handler = handler }
    }

    /// Observes shown and removed destinations.
    ///
    /// - Parameters:
    ///   - name: The registered name of a destination; nil for all destinations.
    ///   - handler: Called on the navigator's loop, in the order of the observers.
    /// - Returns: A closure that ends the observation. Dropping it does not end the observation.
    @discardableResult
    public nonisolated func observe(
        _ name: String? = nil,
        _ handler: @escaping @Sendable (NavigationEvent) -> Void
    ) -> @Sendable () -> Void {
        self.observers.add(of: name, handler)
    }
}

// Steps that a program or a view asks for, and no URL. Inspectors and the global handler do not see them.
extension Navigator {
    /// Undoes whatever brought the top there.
    ///
    /// - Parameters:
    ///   - count: How many times.
    ///   - presenter: Which presenter; nil for the active one.
    /// - Throws: `refused` if there is less to go back to, or the presenter does not; then nothing changes.
    public func back(
        _ count: Int = 1,
        on presenter: NavigationState.PresenterID? = nil
    ) async throws(RoutingError) {
        try await self.takeTurn("") {
            _ = try await self.take(.back(count), as: .back, on: presenter ?? self.state.active)
        }
    }

    /// Takes away what is above a destination.
    ///
    /// - Parameter id: Which one.
    /// - Throws: `refused` if it is not there, or the presenter does not; then nothing changes.
    public func back(to id: NavigationEntry.ID) async throws(RoutingError) {
        try await self.takeTurn("") {
            _ = try await self.take(.backTo(id), as: .back, on: self.presenterID(of: id))
        }
    }

    /// Removes a destination at any position.
    ///
    /// A presented destination is removed with the destinations above it, and any other with the destinations
    /// embedded in it.
    ///
    /// - Parameter id: The ID of the destination.
    /// - Throws: `refused` if the destination does not exist, is at the bottom, or the presenter rejects the
    ///   change. The state is then unchanged.
    public func remove(_ id: NavigationEntry.ID) async throws(RoutingError) {
        try await self.takeTurn("") {
            _ = try await self.take(.remove(id), as: .remove, on: self.presenterID(of: id))
        }
    }

    /// Replaces all shown destinations by the destinations of a state.
    ///
    /// The destinations are created first, and if this fails the state is unchanged. Each presenter then
    /// shows its new destinations. If a presenter fails, the following presenters are unchanged.
    ///
    /// - Parameter state: The state to show.
    /// - Throws: The error of a URL or a presenter.
    public func restore(_ state: NavigationState) async throws(RoutingError) {
        try await self.takeTurn("") { try await self.replace(with: state) }
    }
}
