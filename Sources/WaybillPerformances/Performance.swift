internal import Synchronization
internal import Waybill
internal import WaybillEventLoop
public import WaybillRouting

/// One use of a service that a ``ServiceRouter`` makes on demand.
///
/// The service is the performance's destination.
///
/// A performance calls the router to make the destination, to prepare it, and to remove it.
///
/// ```swift
/// let performance = try bus.performance(of: (any Player).self) {
///     $0.prepare = { try await $0.load("film") }
/// }
/// let player = try await performance.perform()
/// try await performance.remove()
/// ```
///
/// ``perform(onSuccess:onFailure:)`` may be called again after the destination is removed. It may also be
/// called again while the destination exists, unless the router sets ``ServiceRouter/mustBeRemovedFirst``.
/// The performance does not keep its destination alive: when the last other reference to the object is
/// released, the performance's state becomes `removed`.
public final class Performance<Destination: Sendable>: Sendable {
    private let router: any DestinationMaker<Destination>
    private let configuration: PerformConfiguration<Destination>
    /// The settings, which have the router's type; nil for the router's default settings.
    private let settings: (any Sendable)?
    private let attachments: Attachments
    private let progress = Locked(Progress())

    private struct Progress {
        var machine = PerformMachine()
        var holder: WeakReference<Destination>?
    }

    init(
        _ router: any DestinationMaker<Destination>,
        configuration: PerformConfiguration<Destination>,
        attachments: Attachments,
        settings: (any Sendable)?
    ) {
        self.router = router
        self.configuration = configuration
        self.settings = settings
        self.attachments = attachments
    }

    /// The current state.
    public var state: PerformState {
        self.notice()
        return self.progress.withLock { $0.machine.state }
    }

    /// The destination; nil if it has not been made, or if no other reference keeps it alive.
    public var destination: Destination? {
        self.notice()
        return self.progress.withLock { $0.machine.state == .routed ? $0.holder?.held : nil }
    }

    /// Whether there is a destination to remove.
    public var canRemove: Bool { self.state == .routed }

    /// Makes and shows the destination.
    ///
    /// The router makes the destination. The caller's configuration prepares it, then the router prepares and
    /// checks it. If the transition is not `make`, the bus's ``PerformPresenter`` shows the destination.
    ///
    /// - Parameters:
    ///   - onSuccess: A closure that is called when this performance succeeds, after the configuration's
    ///     handler.
    ///   - onFailure: A closure that is called when this performance fails, after the configuration's
    ///     handler.
    /// - Returns: The destination, which the caller must keep alive.
    /// - Throws: `overRoute` if the destination is already being made. `actionFailed` if the performance's
    ///   state does not permit the action. `infiniteRecursion` for the 201st nested performance. `noHandler`
    ///   if the router returns no destination, or the bus has no presenter. `handlerFailed` with the error of
    ///   a step as its cause. The previous state is restored after a failure.
    @discardableResult
    public nonisolated(nonsending) func perform(
        onSuccess: (@Sendable (Destination) -> Void)? = nil,
        onFailure: (@Sendable (RoutingError) -> Void)? = nil
    ) async throws(RoutingError) -> Destination {
        try await self.perform(with: nil, onSuccess, onFailure)
    }

    /// Prepares and shows a destination that the caller made, for example with a storyboard.
    ///
    /// The destination is prepared, checked and shown like a destination that the router makes.
    ///
    /// ```swift
    /// let performance = try bus.performance(of: (any Player).self) { $0.prepare = { $0.title = "film" } }
    /// try await performance.perform(on: player)
    /// ```
    ///
    /// - Parameters:
    ///   - destination: The destination.
    ///   - onSuccess: A closure that is called when this performance succeeds, after the configuration's
    ///     handler.
    ///   - onFailure: A closure that is called when this performance fails, after the configuration's
    ///     handler.
    /// - Throws: The errors of ``perform(onSuccess:onFailure:)``. `typeMismatch` if an adapter provides the
    ///   protocol, and the destination does not have the type that the adapter converts.
    public nonisolated(nonsending) func perform(
        on destination: Destination,
        onSuccess: (@Sendable (Destination) -> Void)? = nil,
        onFailure: (@Sendable (RoutingError) -> Void)? = nil
    ) async throws(RoutingError) {
        _ = try await self.perform(with: destination, onSuccess, onFailure)
    }

    private nonisolated(nonsending) func perform(
        with given: Destination?,
        _ onSuccess: (@Sendable (Destination) -> Void)?,
        _ onFailure: (@Sendable (RoutingError) -> Void)?
    ) async throws(RoutingError) -> Destination {
        await EventLoop.yieldIfDue()
        let running = RunningPerformance()
        defer { running.end() }
        let mustBeRemovedFirst = self.router.mustBeRemovedFirst
        self.notice()
        try self.begin(.perform, onFailure: onFailure) { machine throws(PerformMachine.Refusal) in
            try machine.perform(depth: running.depth, mustBeRemovedFirst: mustBeRemovedFirst)
        }
        let destination: Destination
        do {
            destination = try await RunningPerformance.$current.bind(running, isolation: #isolation) {
                let destination = try await self.make(given)
                let event = self.event(.willPerform, destination)
                self.observe(event)
                if let presenter = try self.presenter { try await presenter.show(event) }
                return destination
            }
        } catch {
            self.router.endPerformance(isShown: false)
            throw self.end(.perform, with: .thrown(error, at: ""), onFailure)
        }
        self.router.endPerformance(isShown: true)
        self.end(destination)
        self.observe(self.event(.didPerform, destination))
        self.configuration.succeeded?(destination)
        self.configuration.completed?(true)
        onSuccess?(destination)
        return destination
    }

    /// Hides the destination and removes it.
    ///
    /// The presenter hides the destination, unless the transition is `make`. The router then removes the
    /// destination.
    ///
    /// - Parameters:
    ///   - onSuccess: A closure that is called when this removal succeeds, after the configuration's handler.
    ///   - onFailure: A closure that is called when this removal fails, after the configuration's handler.
    /// - Throws: `actionFailed` if no destination exists. `overRoute` if the destination is already being
    ///   removed. `handlerFailed` with the error of the presenter or of the router as its cause; the
    ///   destination then still exists.
    public nonisolated(nonsending) func remove(
        onSuccess: (@Sendable () -> Void)? = nil,
        onFailure: (@Sendable (RoutingError) -> Void)? = nil
    ) async throws(RoutingError) {
        await EventLoop.yieldIfDue()
        self.notice()
        let held = try self.begin(.remove, onFailure: onFailure) { machine throws(PerformMachine.Refusal) in
            try machine.remove()
        }
        do {
            if let held {
                let event = self.event(.willRemove, held)
                self.observe(event)
                if let presenter = try self.presenter { try await presenter.remove(event) }
                try await self.router.remove(held)
            }
        } catch {
            throw self.end(.remove, with: .thrown(error, at: ""), onFailure)
        }
        self.end(nil)
        if let held { self.observe(self.event(.didRemove, held)) }
        self.configuration.removed?()
        self.configuration.completed?(true)
        onSuccess?()
    }

    private nonisolated(nonsending) func make(_ given: Destination?) async throws -> Destination {
        let configuration = self.configuration
        let origin = PerformOrigin(source: configuration.source, transition: configuration.transition)
        let made: Destination?
        if let given {
            try self.router.adopt(given)
            made = given
        } else {
            made = try await self.router.make(origin, self.settings)
        }
        guard let destination = made else {
            throw RoutingError(.noHandler, message: "the router returned no destination")
        }
        try await configuration.prepare?(destination)
        try await self.router.prepare(destination)
        try await self.router.check(destination)
        return destination
    }

    /// The presenter of the destination; nil for the transition `make`.
    private var presenter: (any PerformPresenter)? {
        get throws(RoutingError) {
            let transition = self.configuration.transition
            guard transition != .make else { return nil }
            guard let presenter = self.attachments.value(of: PresenterBox.self)?.presenter else {
                throw RoutingError(
                    .noHandler,
                    message: "the bus has no presenter for the transition `\(transition)`: set one with "
                        + "`bus.setPerformPresenter(_:)`"
                )
            }
            return presenter
        }
    }

    /// Begins an action, and returns the destination that exists then.
    @discardableResult
    private func begin(
        _ action: PerformAction,
        onFailure: (@Sendable (RoutingError) -> Void)?,
        _ decide: (inout PerformMachine) throws(PerformMachine.Refusal) -> PerformMachine.Change
    ) throws(RoutingError) -> Destination? {
        do throws(PerformMachine.Refusal) {
            let (change, held) = try self.progress.withLock { progress throws(PerformMachine.Refusal) in
                (try decide(&progress.machine), progress.holder?.held)
            }
            self.report(change)
            return held
        } catch {
            let reason = RoutingError(error.code, message: error.message)
            if !error.isQuiet {
                onFailure?(reason)
                self.reportToBus(action, reason)
            }
            throw reason
        }
    }

    private func end(_ destination: Destination?) {
        let (change, _) = self.progress.withLock { progress in
            let old = progress.holder
            progress.holder = destination.map { WeakReference($0) }
            return (progress.machine.finish(), old)
        }
        self.report(change)
    }

    private func end(
        _ action: PerformAction,
        with error: RoutingError,
        _ onFailure: (@Sendable (RoutingError) -> Void)?
    ) -> RoutingError {
        self.report(self.progress.withLock { $0.machine.fail() })
        self.configuration.failed?(error)
        self.configuration.actionFailed?(action, error)
        self.configuration.completed?(false)
        onFailure?(error)
        self.reportToBus(action, error)
        return error
    }

    /// Changes the state if the destination has been released.
    private func notice() {
        // The closure returns the destination that it has found, because another thread may release it now.
        let (change, _) = self.progress.withLock { progress -> (PerformMachine.Change?, Destination?) in
            guard let holder = progress.holder else { return (nil, nil) }
            if let held = holder.held { return (nil, held) }
            guard let change = progress.machine.lose() else { return (nil, nil) }
            progress.holder = nil
            return (change, nil)
        }
        if let change { self.report(change) }
    }

    /// Calls the bus's handler for failed performances.
    ///
    /// The handler is not called when performances are nested too deeply, because each of the surrounding
    /// performances fails with the same error.
    private func reportToBus(_ action: PerformAction, _ error: RoutingError) {
        guard error.rootCause.code != .infiniteRecursion else { return }
        self.attachments.value(of: PerformFailedHandler.self)?.body(action, error)
    }

    private func event(_ kind: PerformEvent.Kind, _ destination: Destination) -> PerformEvent {
        PerformEvent(
            kind: kind,
            destination: destination,
            source: self.configuration.source,
            transition: self.configuration.transition,
            service: Destination.self
        )
    }

    private func observe(_ event: PerformEvent) {
        self.attachments.value(of: PerformObservers.self)?.report(event)
    }

    private func report(_ change: PerformMachine.Change) {
        self.configuration.stateChanged?(change.old, change.new)
    }
}

/// A reference to a value, which is weak if the value is an object, and strong otherwise.
struct WeakReference<Value: Sendable> {
    private let value: Value?
    private weak var object: AnyObject?
    private let isObject: Bool

    init(_ value: Value) {
        self.isObject = type(of: value as Any) is AnyClass
        self.value = self.isObject ? nil : value
        self.object = self.isObject ? value as AnyObject : nil
    }

    var held: Value? { self.isObject ? self.object as? Value : self.value }
}

/// A performance that makes and shows its destination, with the performances in which it is nested.
private final class RunningPerformance: Sendable {
    /// The innermost performance in which the code of the current task is nested.
    @TaskLocal static var current: RunningPerformance?

    private let outer: RunningPerformance?
    private let isRunning = Atomic(true)

    /// Creates a performance that is nested in the running performances of the current task.
    ///
    /// A task that an earlier performance has started may live longer than that performance.
    init() {
        var outer = Self.current
        while let ended = outer, !ended.isRunning.load(ordering: .relaxed) { outer = ended.outer }
        self.outer = outer
    }

    /// The number of running performances, including this performance.
    var depth: Int {
        sequence(first: self, next: \.outer).count { $0.isRunning.load(ordering: .relaxed) }
    }

    func end() { self.isRunning.store(false, ordering: .relaxed) }
}
