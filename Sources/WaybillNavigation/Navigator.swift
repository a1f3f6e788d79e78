public import Waybill
public import WaybillEventLoop
public import WaybillRouting

/// Manages the destinations that are shown.
///
/// A navigator makes destinations for URLs, calls presenters to show them, and goes back to earlier
/// destinations.
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
/// A navigator is a module on the loop of its bus. The navigator makes one step at a time, in the order of
/// the requests. A step is one change of the shown destinations. Code that runs within a step must not wait
/// for another step: the request for the other step fails with `refused`. The code may use `send` instead.
/// The bus keeps the navigator alive while any destination is registered with the navigator.
///
/// | URL | effect |
/// | --- | --- |
/// | `app://push/product/7`, `app://product/7` | shows a new destination on top |
/// | `app://present/product/7` | shows a new layer in front; going back from its bottom dismisses the layer |
/// | `app://root/product/7` | replaces all destinations |
/// | `app://embed/product/7` | adds a part to the top destination; both are removed together |
/// | `app://show/product/7`, your own transitions | shows a destination on top; the presenter decides how |
/// | `app://back`, `app://back?count=2` | undoes the steps that showed the top destinations |
/// | `app://back/product/7` | removes the destinations above this destination |
/// | `app://root` | removes all destinations above the bottom |
/// | `app://remove/product/7` | removes this destination; a layer is removed with all destinations above it |
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
    /// The ID of the step in progress.
    ///
    /// The bus tracks a step like a message, to detect a request that would wait for the step while the step
    /// waits for the request.
    var step: CorrelationID?

    /// The inspectors and the handler that the navigator calls for a request before the step.
    struct Rules: Sendable {
        var inspectors: [any NavigationInspector] = []
        var handler: (@Sendable (NavigationRequest) async throws -> NavigationDecision)?
        /// The schemes whose unmatched URLs are passed to the handler.
        var uncaughtSchemes: Set<String> = []
    }

    /// Creates a navigator that shows nothing yet, and registers `back`, `root` and `remove` for its schemes.
    ///
    /// URLs have transitions only if the bus's conventions define them.
    /// ``WaybillRouting/RoutingConventions/navigation`` and the conventions of FTRouter define transitions.
    ///
    /// - Parameters:
    ///   - bus: The bus that delivers the requests. The navigator does not keep the bus alive.
    ///   - presenter: The presenter with the name ``NavigationState/mainPresenter``. This presenter shows the
    ///     requests that name no other presenter.
    ///   - schemes: The schemes of the navigator's URLs; nil for the bus's default scheme.
    ///   - fileID: The source file of the registration, for errors.
    ///   - line: The source line of the registration, for errors.
    /// - Throws: `conflict` if a handler is already registered for `scheme://` alone; no scheme is then
    ///   registered.
    public init(
        bus: MessageBus,
        presenter: some Presenter,
        schemes: [String]? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) {
        self.eventLoop = bus.eventLoop
        self.bus = bus.unowned
        self.presenters = [NavigationState.mainPresenter: presenter]
        var registrations: [Registration] = []
        do throws(RoutingError) {
            for scheme in schemes ?? [bus.defaultScheme] {
                registrations.append(try self.register(nil, for: "\(scheme)://", fileID: fileID, line: line))
            }
        } catch {
            for registration in registrations { registration.cancel() }
            throw error
        }
    }
}

// The destinations that are shown.
extension Navigator {
    /// The destinations that are shown, as a value.
    public var state: NavigationState { self.machine.state }

    /// Returns the destinations that a presenter shows, with their values.
    ///
    /// - Parameter presenter: The name of the presenter; nil for the active presenter.
    /// - Returns: The destinations, with the top last.
    public func destinations(of presenter: NavigationState.PresenterID? = nil) -> [PresentedDestination] {
        self.presented(self.state.stack(of: presenter))
    }

    /// Adds a presenter, or replaces the presenter of the same name.
    ///
    /// - Parameters:
    ///   - presenter: A presenter that shows the requests that name this presenter in
    ///     ``NavigationRequest/presenterHeader``. The presenter does not receive the destinations that a
    ///     replaced presenter showed.
    ///   - name: The name of the presenter.
    public func setPresenter(_ presenter: some Presenter, named name: NavigationState.PresenterID) {
        self.presenters[name] = presenter
    }

    /// Makes a presenter active, for example when the user selects its tab.
    ///
    /// The active presenter shows the requests that name no presenter.
    ///
    /// - Parameter presenter: The name of the presenter.
    /// - Throws: `noHandler` if no presenter has the name.
    public func activate(_ presenter: NavigationState.PresenterID) async throws(RoutingError) {
        _ = try self.presenter(presenter)
        try await self.takeTurn("") { self.machine.activate(presenter) }
    }
}

// Inspectors, the global handler, and observers.
extension Navigator {
    /// Adds an inspector, which is called after the inspectors that were added before.
    public nonisolated func addInspector(_ inspector: some NavigationInspector) {
        self.rules.withLock { $0.inspectors.append(inspector) }
    }

    /// Sets the handler that is called first for every request, and may answer the request in place of the
    /// navigator.
    ///
    /// A navigator has one global handler. A new handler replaces the previous handler.
    ///
    /// - Parameters:
    ///   - schemes: The schemes whose URLs are also passed to the handler when no pattern matches. The
    ///     requests of these URLs have no ``NavigationRequest/destinationName``.
    ///   - handler: A closure that decides whether the navigator continues with the request.
    /// - Throws: `conflict` if a scheme already has a connector; `invalidPattern` for a text that is not a
    ///   scheme. The previous handler then stays.
    public nonisolated func setGlobalHandler(
        uncaughtOf schemes: [String] = [],
        _ handler: @escaping @Sendable (NavigationRequest) async throws -> NavigationDecision
    ) throws(RoutingError) {
        try self.connectUncaught(schemes)
        _ = self.rules.withLock { Swift.exchange(&$0.handler, with: handler) }
    }

    /// Observes the destinations that are shown and removed.
    ///
    /// - Parameters:
    ///   - name: The name with which a destination was registered; nil to observe all destinations.
    ///   - handler: A closure that is called on the navigator's loop, in the order of the observers.
    /// - Returns: A closure that removes the observer. The navigator keeps the observer until the closure is
    ///   called.
    @discardableResult
    public nonisolated func observe(
        _ name: String? = nil,
        _ handler: @escaping @Sendable (NavigationEvent) -> Void
    ) -> @Sendable () -> Void {
        self.observers.add(of: name, handler)
    }
}

// Steps that a program or a view requests without a URL. These steps are not passed to inspectors and the
// global handler.
extension Navigator {
    /// Undoes the steps that showed the top destinations.
    ///
    /// - Parameters:
    ///   - count: The number of steps to undo.
    ///   - presenter: The name of the presenter; nil for the active presenter.
    /// - Throws: `refused` if fewer destinations are below than the count, or the error of the presenter. If
    ///   the method throws, nothing has changed.
    public func back(
        _ count: Int = 1,
        on presenter: NavigationState.PresenterID? = nil
    ) async throws(RoutingError) {
        try await self.takeTurn("") {
            _ = try await self.take(.back(count), as: .back, on: presenter ?? self.state.active)
        }
    }

    /// Removes the destinations above a destination.
    ///
    /// - Parameter id: The ID of the destination that becomes the top.
    /// - Throws: `refused` if the destination is not shown, or the error of the presenter. If the method
    ///   throws, nothing has changed.
    public func back(to id: NavigationEntry.ID) async throws(RoutingError) {
        try await self.takeTurn("") {
            _ = try await self.take(.backTo(id), as: .back, on: self.presenterID(of: id))
        }
    }

    /// Removes a destination at any position.
    ///
    /// A destination that was presented is removed with all destinations above it. Any other destination is
    /// removed together with its embedded destinations.
    ///
    /// - Parameter id: The ID of the destination.
    /// - Throws: `refused` if the destination is not shown or is at the bottom, or the error of the
    ///   presenter. If the method throws, nothing has changed.
    public func remove(_ id: NavigationEntry.ID) async throws(RoutingError) {
        try await self.takeTurn("") {
            _ = try await self.take(.remove(id), as: .remove, on: self.presenterID(of: id))
        }
    }

    /// Replaces all destinations with the destinations of a state.
    ///
    /// All destinations are made first. If one of them cannot be made, nothing changes. Then the presenters
    /// show their new destinations, one presenter after the other in the order of their names. If a presenter
    /// fails, the presenters after it keep their previous destinations.
    ///
    /// - Parameter state: The state to show.
    /// - Throws: The error of a URL or of a presenter.
    public func restore(_ state: NavigationState) async throws(RoutingError) {
        try await self.takeTurn("") { try await self.replace(with: state) }
    }
}
