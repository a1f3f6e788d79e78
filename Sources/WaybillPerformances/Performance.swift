internal import Waybill
internal import WaybillEventLoop
public import WaybillRouting

/// One destination of a ``ServiceRouter``: made, prepared, there, and taken down again.
///
/// ```swift
/// let performance = try bus.performance(of: (any Player).self) {
///     $0.prepare = { try await $0.load("film") }
/// }
/// let player = try await performance.perform()
/// try await performance.remove()
/// ```
///
/// It may be performed again once its destination is gone, or while that exists, unless its router wants it
/// removed first. It does not keep its destination: when the last reference to that object is released, it is
/// `removed`.
public final class Performance<Destination: Sendable>: Sendable {
    private let router: any DestinationMaker<Destination>
    private let configuration: PerformConfiguration<Destination>
    /// The settings, of the router's type; nil for the router's default.
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

    /// How far it is.
    public var state: PerformState {
        self.notice()
        return self.progress.withLock { $0.machine.state }
    }

    /// The created destination, while other code references it.
    public var destination: Destination? {
        self.notice()
        return self.progress.withLock { $0.machine.state == .routed ? $0.holder?.held : nil }
    }

    /// Whether there is something to remove now.
    public var canRemove: Bool { self.state == .routed }

    /// Creates the destination: it is made, prepared by the caller's configuration and then by the router,
    /// checked, and shown by the bus's ``PerformPresenter`` if it is to appear anywhere.
    ///
    /// - Parameters:
    ///   - onSuccess: Called when this performance succeeds, after the configuration's handler.
    ///   - onFailure: Called when this performance fails, after the configuration's handler.
    /// - Returns: The destination, which the caller has to hold.
    /// - Throws: `overRoute` if it is already being performed, `actionFailed` if its state does not permit
    ///   it, `infiniteRecursion` for the 201st performance inside of one another, `noHandler` if the router
    ///   has no destination or nothing shows it, and `handlerFailed` with the error of a step as its cause.
    ///   After a failure the state is as before.
    @discardableResult
    public nonisolated(nonsending) func perform(
        onSuccess: (@Sendable (Destination) -> Void)? = nil,
        onFailure: (@Sendable (RoutingError) -> Void)? = nil
    ) async throws(RoutingError) -> Destination {
        try await self.perform(with: nil, onSuccess, onFailure)
    }

    /// Takes over a destination that was made elsewhere, by a storyboard for one: all is done with it that is
    /// done with a destination which the router makes.
    ///
    /// ```swift
    /// let performance = try bus.performance(of: (any Player).self) { $0.prepare = { $0.title = "film" } }
    /// try await performance.perform(on: player)
    /// ```
    ///
    /// - Parameters:
    ///   - destination: The destination.
    ///   - onSuccess: Called when this performance succeeds, after the configuration's handler.
    ///   - onFailure: Called when this performance fails, after the configuration's handler.
    /// - Throws: The errors of ``perform(onSuccess:onFailure:)``; `typeMismatch` if an adapter answers for
    ///   the protocol, and the destination is not of the type that the adapter needs.
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
        let depth = PerformDepth.current + 1
        let mustBeRemovedFirst = self.router.mustBeRemovedFirst
        self.notice()
        try self.begin(.perform, onFailure: onFailure) { machine throws(PerformMachine.Refusal) in
            try machine.perform(depth: depth, mustBeRemovedFirst: mustBeRemovedFirst)
        }
        let destination: Destination
        do {
            destination = try await PerformDepth.$current.withValue(depth) {
                let destination = try await self.make(given)
                let event = self.event(.willPerform, destination)
                self.observe(event)
                if let presenter = try self.presenter { try await presenter.show(event) }
                return destination
            }
        } catch {
            throw self.end(.perform, with: .thrown(error, at: ""), onFailure)
        }
        self.end(destination)
        self.observe(self.event(.didPerform, destination))
        self.configuration.succeeded?(destination)
        self.configuration.completed?(true)
        onSuccess?(destination)
        return destination
    }

    /// Takes the destination away, however it has appeared, and down.
    ///
    /// - Parameters:
    ///   - onSuccess: Called when this removal succeeds, after the configuration's handler.
    ///   - onFailure: Called when this removal fails, after the configuration's handler.
    /// - Throws: `actionFailed` if there is nothing to remove, `overRoute` if it is being removed already,
    ///   and `handlerFailed` with the error of the presenter or the router as its cause: then the destination
    ///   is still there.
    public nonisolated(nonsending) func remove(
        onSuccess: (@Sendable () -> Void)? = nil,
        onFailure: (@Sendable (RoutingError) -> Void)? = nil
    ) async throws(RoutingError) {
        await EventLoop.yieldIfDue()
        self.notice()
        let held = self.destination
        try self.begin(.remove, onFailure: onFailure) { machine throws(PerformMachine.Refusal) in
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
            throw RoutingError(.noHandler, message: "the router has no destination at present")
        }
        try await configuration.prepare?(destination)
        try await self.router.prepare(destination)
        try await self.router.check(destination)
        return destination
    }

    /// The presenter of the destination; nil when that is to appear nowhere.
    private var presenter: (any PerformPresenter)? {
        get throws(RoutingError) {
            let transition = self.configuration.transition
            guard transition != .make else { return nil }
            guard let presenter = self.attachments.value(of: PresenterBox.self)?.presenter else {
                throw RoutingError(
                    .noHandler,
                    message: "no presenter can show a destination by `\(transition)`: set one with "
                        + "`bus.setPerformPresenter(_:)`"
                )
            }
            return presenter
        }
    }

    private func begin(
        _ action: PerformAction,
        onFailure: (@Sendable (RoutingError) -> Void)?,
        _ decide: (inout PerformMachine) throws(PerformMachine.Refusal) -> PerformMachine.Change
    ) throws(RoutingError) {
        do throws(PerformMachine.Refusal) {
            let change = try self.progress.withLock { progress throws(PerformMachine.Refusal) in
                try decide(&progress.machine)
            }
            self.report(change)
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
        let change = self.progress.withLock { progress in
            progress.holder = destination.map { WeakReference($0) }
            return progress.machine.finish()
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

    /// Notices that the destination has been released.
    private func notice() {
        let change = self.progress.withLock { progress -> PerformMachine.Change? in
            guard let holder = progress.holder, holder.held == nil else { return nil }
            guard let change = progress.machine.lose() else { return nil }
            progress.holder = nil
            return change
        }
        if let change { self.report(change) }
    }

    /// Calls the handler of the bus, but not for too deep a recursion: each of the performances around the
    /// innermost one fails with it.
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

/// Holds a value, but an object only weakly.
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

/// How many performances the calling code is inside of.
enum PerformDepth {
    @TaskLocal static var current = 0
}
