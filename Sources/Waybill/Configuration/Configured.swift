internal import WaybillRouting

/// A configuration that is loaded, and what has become of it.
struct Configured: Sendable {
    /// A route of the configuration.
    struct Bound: Sendable {
        let id: RouteID
        let handler: Handler
        /// Whose code it runs; nil if its target is not there.
        let source: Handler?
        /// What its target says to that code, if it is a URL that says something.
        let target: ConfiguredTarget?
    }

    let configuration: RouteConfiguration
    let destinations: [String: Handler]
    var routes: [RouteConfiguration.Entry: Bound] = [:]

    init(
        _ configuration: RouteConfiguration,
        _ destinations: [String: MessageBus.Destination],
        _ core: BusCore
    ) {
        self.configuration = configuration
        self.destinations = destinations.mapValues {
            Handler(suspending: $0, mailbox: core.homeMailbox, core: core)
        }
    }
}
