public import Waybill

/// Shows destinations that are made on demand, whatever their transitions, and takes them away again.
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
/// A ``Performance`` calls it wherever its caller is, unless the transition is `make`. When a method throws,
/// the performance fails with that error, and its state is as before.
public protocol PerformPresenter: Sendable {
    /// Shows a destination that has been made and prepared, as its transition says.
    nonisolated(nonsending) func show(_ event: PerformEvent) async throws

    /// Takes a destination away that was shown by that transition, before its router takes it down.
    nonisolated(nonsending) func remove(_ event: PerformEvent) async throws
}

extension MessageBus {
    /// Sets the presenter of all performances; a bus has one, the last one that was set.
    public func setPerformPresenter(_ presenter: some PerformPresenter) {
        self.attachments.set(PresenterBox(presenter: presenter))
    }
}

/// The presenter of a bus's performances.
struct PresenterBox: Sendable {
    let presenter: any PerformPresenter
}
