public import Waybill

/// A type that shows and hides the destinations of performances, for all transitions.
///
/// ```swift
/// struct WindowPresenter: PerformPresenter {
///     nonisolated(nonsending) func show(_ event: PerformEvent) async throws {
///         await window.add(event.destination, by: event.transition, from: event.source)
///     }
///
///     nonisolated(nonsending) func remove(_ event: PerformEvent) async throws {
///         await window.remove(event.destination, by: event.transition)
///     }
/// }
///
/// bus.setPerformPresenter(WindowPresenter())
/// let performance = try bus.performance(of: (any Player).self) { $0.transition = .present }
/// ```
///
/// A ``Performance`` calls its bus's presenter in the isolation of the performance's caller, unless the
/// transition is `make`. When a method throws, the performance fails with that error, and the performance's
/// previous state is restored.
public protocol PerformPresenter: Sendable {
    /// Shows a destination that has been made and prepared, by the transition of the event.
    nonisolated(nonsending) func show(_ event: PerformEvent) async throws

    /// Hides a destination that was shown by the transition of the event. The router removes the destination
    /// afterwards.
    nonisolated(nonsending) func remove(_ event: PerformEvent) async throws
}

extension MessageBus {
    /// Sets the presenter that shows the destinations of all performances of the bus.
    ///
    /// A new presenter replaces the previous presenter.
    public func setPerformPresenter(_ presenter: some PerformPresenter) {
        self.attachments.set(PresenterBox(presenter: presenter))
    }
}

/// The presenter of a bus's performances.
struct PresenterBox: Sendable {
    let presenter: any PerformPresenter
}
