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
    private let attachments: Attachments
    private let progress = Locked(Progress())

    private struct Progress {
        var machine = PerformMachine()
        var holder: WeakReference<Destination>?
    }

    init(
        _ router: any DestinationMaker<Destination>,
        _ configuration: PerformConfiguration<Destination>,
        _ attachments: Attachments
    ) {
        self.router = router
        self.configuration = configuration
        self.attachments = attachments
    }

    /// How far it is.
    public var state: PerformState {
        self.notice()
        return self.progress.withLock { $0.machine.state }
    }

    /// What was made, as long as it is referenced elsewhere.
    public var destination: Destination? {
        self.notice()
        return self.progress.withLock { $0.machine.state == .routed ? $0.holder?.held : nil }
    }

    /// Whether there is something to remove now.
    public var canRemove: Bool { self.state == .routed }

    /// Makes the destination: it is made, prepared by the caller's configuration and then by the router, and
    /// checked.
    ///
    /// - Parameters:
    ///   - onSuccess: called when this performance succeeds, after the configuration's handler.
    ///   - onFailure: called when this performance fails, after the configuration's handler.
    /// - Returns: the destination, which the caller has to hold.
    /// - Throws: `overRoute` if it is being performed already, `actionFailed` if its state does not permit
    ///   it, `infiniteRecursion` for the 201st performance inside of one another, `noHandler` if the router
    ///   has no destination, and `handlerFailed` with what one of the steps threw as its cause. After a
    ///   failure the state is what it was before.
    @discardableResult
    public nonisolated(nonsending) func perform(
        onSuccess: (@Sendable (Destination) -> Void)? = nil,
        onFailure: (@Sendable (RoutingError) -> Void)? = nil
    ) async throws(RoutingError) -> Destination {
        await EventLoop.yieldIfDue()
        let depth = PerformDepth.current + 1
        let mustBeRemovedFirst = self.router.mustBeRemovedFirst
        self.notice()
        try self.begin(.perform, onFailure) { machine throws(PerformMachine.Refusal) in
            try machine.perform(depth: depth, mustBeRemovedFirst: mustBeRemovedFirst)
        }
        self.observe(.willPerform, nil)
        let destination: Destination
        do {
            destination = try await PerformDepth.$current.withValue(depth) { try await self.make() }
        } catch {
            throw self.end(.perform, with: .thrown(error, at: ""), onFailure)
        }
        self.end(destination)
        self.observe(.didPerform, destination)
        self.configuration.succeeded?(destination)
        self.configuration.completed?(true)
        onSuccess?(destination)
        return destination
    }

    /// Takes the destination down.
    ///
    /// - Parameters:
    ///   - onSuccess: called when this removal succeeds, after the configuration's handler.
    ///   - onFailure: called when this removal fails, after the configuration's handler.
    /// - Throws: `actionFailed` if there is nothing to remove, `overRoute` if it is being removed already,
    ///   and `handlerFailed` with what the router threw as its cause: then the destination is still there.
    public nonisolated(nonsending) func remove(
        onSuccess: (@Sendable () -> Void)? = nil,
        onFailure: (@Sendable (RoutingError) -> Void)? = nil
    ) async throws(RoutingError) {
        await EventLoop.yieldIfDue()
        self.notice()
        let held = self.destination
        try self.begin(.remove, onFailure) { machine throws(PerformMachine.Refusal) in try machine.remove() }
        self.observe(.willRemove, held)
        do {
            if let held { try await self.router.remove(held) }
        } catch {
            throw self.end(.remove, with: .thrown(error, at: ""), onFailure)
        }
        self.end(nil)
        self.observe(.didRemove, held)
        self.configuration.removed?()
        self.configuration.completed?(true)
        onSuccess?()
    }

    private nonisolated(nonsending) func make() async throws -> Destination {
        let configuration = self.configuration
        let origin = PerformOrigin(source: configuration.source, transition: configuration.transition)
        guard let destination = try await self.router.make(origin, configuration.settings) else {
            throw RoutingError(.noHandler, message: "its router has no destination now")
        }
        try await self.configuration.prepare?(destination)
        try await self.router.prepare(destination)
        try await self.router.check(destination)
        return destination
    }

    private func begin(
        _ action: PerformAction,
        _ onFailure: (@Sendable (RoutingError) -> Void)?,
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

    private func reportToBus(_ action: PerformAction, _ error: RoutingError) {
        self.attachments.value(of: PerformFailedHandler.self)?.body(action, error)
    }

    private func observe(_ kind: PerformEvent.Kind, _ destination: Destination?) {
        guard let observers = self.attachments.value(of: PerformObservers.self) else { return }
        observers.report(
            PerformEvent(
                kind: kind,
                destination: destination,
                source: self.configuration.source,
                transition: self.configuration.transition,
                service: Destination.self
            )
        )
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
