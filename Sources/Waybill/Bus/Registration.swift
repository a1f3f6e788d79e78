internal import WaybillRouting

/// A handler's place in a bus; keep it to take the handler out again.
public struct Registration: Sendable {
    /// The pattern that the handler was registered for; a connector's scheme, with a colon; the name of a
    /// service's protocol.
    public let pattern: String

    let core: BusCore
    let place: Place

    /// What was registered.
    enum Place: Sendable {
        case route(RouteID)
        case connection(Int)
        case service(Int)
        /// Nothing was: there is nothing to take out.
        case none
    }

    /// Unregisters the handler: nothing reaches it any more, and whoever waits for it fails at once with
    /// `noHandler`.
    ///
    /// Doing so again, or after another handler took the place, changes nothing.
    public func cancel() { self.core.unregister(self.place) }
}
