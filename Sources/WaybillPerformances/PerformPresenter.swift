public import Waybill

/// A type that shows destinations made on demand, for all transitions, and hides them again.
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
/// A ``Performance`` calls a presenter in the isolation of its caller, unless the transition is `make`. When
/// a method throws, the performance fails with that error, and its previous state is restored.
public protocol PerformPresenter: Sendable {
    /// Shows a destination that has been made and prepared, by the transition of the event.
    nonisolated(nonsending) func show(_ event: PerformEvent) async throws

    /// Hides a destination that was shown by the transition of the event. Its router removes it afterwards.
    nonisolated(nonsending) func remove(_ event: PerformEvent) async throws
}

extension MessageBus {
    /// Sets the presenter that shows the destinations of all performances of the bus.
    ///
    /// A new presenter replaces the previous one.
    public func setPerformPresenter(_ presenter: some PerformPresenter) {
        self.attachments.set(PresenterBox(presenter: presenter))
    }
}

/// The presenter of a bus's performances.
struct PresenterBox: Sendable {
    let presenter: any PerformPresenter
}
