#if Durable
internal import Logging
package import WaybillEventLoop

/// The process of a simulation, on whose loop and disk the stores run that a task of the process opens.
package enum StoreHost {
    /// The loop and the disk of one store; `atEnd` receives a closure that is called when the process ends.
    package typealias Place = (
        eventLoop: EventLoop, vfs: String, atEnd: @Sendable (@escaping @Sendable () -> Void) -> Void
    )

    /// Returns the place of a store that the current task opens; nil in a program that does not simulate.
    @TaskLocal package static var makePlace: (@Sendable () -> Place)?

    /// Creates the engine of a store in the host of the current task; nil if the task has no host.
    static func makeEngine(_ configuration: DurableStore.Configuration) -> StoreEngine? {
        guard let place = self.makePlace?() else { return nil }
        var configuration = configuration
        configuration.vfs = place.vfs
        // Each loss of power would be logged as a critical failure.
        configuration.logger = Logger(label: "waybill.durable") { _ in SwiftLogNoOpLogHandler() }
        let engine = StoreEngine(configuration, on: place.eventLoop)
        place.atEnd { [weak engine] in engine?.abandon() }
        return engine
    }
}
#endif
