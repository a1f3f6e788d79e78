public import Waybill
public import WaybillEventLoop
public import WaybillRouting

/// Keeps what is shown: makes destinations for URLs, has presenters show them, and goes back.
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
/// A navigator is a module on the loop of its bus. Steps are taken one at a time, in the order in which they
/// came; what is called within a step must not wait for another one, which is refused, but may send it. The
/// bus holds the navigator as long as anything is registered with it.
///
/// | URL | what happens |
/// | --- | --- |
/// | `app://push/product/7`, `app://product/7` | a new destination on top |
/// | `app://present/product/7` | a new layer in front; going back from its bottom dismisses it |
/// | `app://root/product/7` | it takes the place of everything |
/// | `app://embed/product/7` | a part of what is on top; goes with it |
/// | `app://show/product/7`, kinds of your own | on top; the presenter knows what it means |
/// | `app://back`, `app://back?count=2` | undoes whatever brought the top there |
/// | `app://back/product/7` | takes away what is above it |
/// | `app://root` | takes away everything but the bottom |
/// | `app://remove/product/7` | takes it away, wherever it is: a layer with what is above it |
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

    /// What looks at requests before they are taken.
    struct Rules: Sendable {
        var inspectors: [any NavigationInspector] = []
        var handler: (@Sendable (NavigationRequest) async throws -> NavigationDecision)?
        /// The schemes whose unmatched URLs come to the handler.
        var uncaughtSchemes: Set<String> = []
    }

    /// Makes a navigator that shows nothing yet, and registers `back`, `root` and `remove` for schemes.
    ///
    /// The transitions of URLs are seen if the bus's conventions have them:
    /// ``WaybillRouting/RoutingConventions/navigation``, or FTRouter's.
    ///
    /// - Parameters:
    ///   - bus: what brings the requests; the navigator does not keep it open.
    ///   - presenter: shows what says no other presenter, as ``NavigationState/mainPresenter``.
    ///   - schemes: those of its URLs; the bus's default scheme if nil.
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

// What is shown.
extension Navigator {
    /// What is shown, as a value.
    public var state: NavigationState { self.machine.state }

    /// What a presenter shows, with the destinations themselves.
    ///
    /// - Parameter presenter: which one; nil for the active one.
    /// - Returns: the destinations, the top last.
    public func destinations(of presenter: NavigationState.PresenterID? = nil) -> [PresentedDestination] {
        self.presented(self.state.stack(of: presenter))
    }

    /// Adds a presenter, or sets another one in the place of a presenter of that name.
    ///
    /// - Parameters:
    ///   - presenter: shows what names it in ``NavigationRequest/presenterHeader``; it is not told what the
    ///     one before it showed.
    ///   - name: what it is called.
    public func setPresenter(_ presenter: some Presenter, named name: NavigationState.PresenterID) {
        self.presenters[name] = presenter
    }

    /// Has a presenter show what says no other, as a tab that was chosen.
    ///
    /// - Parameter presenter: which one.
    /// - Throws: `noHandler` if there is none of that name.
    public func activate(_ presenter: NavigationState.PresenterID) async throws(RoutingError) {
        _ = try self.presenter(presenter)
        try await self.takeTurn("") { self.machine.activate(presenter) }
    }
}

// What looks at requests, and sees what happens.
extension Navigator {
    /// Adds an inspector behind those that there are.
    public nonisolated func addInspector(_ inspector: some NavigationInspector) {
        self.rules.withLock { $0.inspectors.append(inspector) }
    }

    /// Sets the handler that sees every request first, and may take it over; there is one, the last one set.
    ///
    /// - Parameters:
    ///   - schemes: whose URLs come to it as well where no pattern matches them; their requests have no
    ///     ``NavigationRequest/destinationName``.
    ///   - handler: decides.
    /// - Throws: `conflict` if a scheme has a connector already; `invalidPattern` for a text that is not a
    ///   scheme.
    public nonisolated func setGlobalHandler(
        uncaughtOf schemes: [String] = [],
        _ handler: @escaping @Sendable (NavigationRequest) async throws -> NavigationDecision
    ) throws(RoutingError) {
        for scheme in schemes { try self.connectUncaught(scheme) }
        self.rules.withLock { $0.handler = handler }
    }

    /// Observes what is shown and taken away.
    ///
    /// - Parameters:
    ///   - name: the destination that is of interest, as it was named when it was registered; nil for all.
    ///   - handler: called on the navigator's loop, in the order of the observers.
    /// - Returns: what ends it when it is called; the observer stays if this is dropped.
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
    ///   - count: how many times.
    ///   - presenter: which presenter; nil for the active one.
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
    /// - Parameter id: which one.
    /// - Throws: `refused` if it is not there, or the presenter does not; then nothing changes.
    public func back(to id: NavigationEntry.ID) async throws(RoutingError) {
        try await self.takeTurn("") {
            _ = try await self.take(.backTo(id), as: .back, on: self.presenterID(of: id))
        }
    }

    /// Takes a destination away, wherever it is: what was presented with all that is above it, any other with
    /// what is embedded in it.
    ///
    /// - Parameter id: which one.
    /// - Throws: `refused` if it is not there, is at the bottom, or the presenter does not; then nothing
    ///   changes.
    public func remove(_ id: NavigationEntry.ID) async throws(RoutingError) {
        try await self.takeTurn("") {
            _ = try await self.take(.remove(id), as: .remove, on: self.presenterID(of: id))
        }
    }

    /// Shows what a state shows, in place of all that is there.
    ///
    /// The destinations are made first; if that fails nothing changes. Then each presenter shows its own, the
    /// new ones and nothing else; if one fails, those behind it keep what they show.
    ///
    /// - Parameter state: what to show.
    /// - Throws: the error of a URL or a presenter.
    public func restore(_ state: NavigationState) async throws(RoutingError) {
        try await self.takeTurn("") { try await self.replace(with: state) }
    }
}
