internal import WaybillRouting

/// The registration of a handler, a connector, a service, a subscriber, a middleware, or an exposed or shared
/// pattern.
///
/// Keep the registration if you want to cancel it later. If you drop the registration, its entry stays
/// registered.
public struct Registration: Sendable {
    /// The registration as text.
    ///
    /// The text is a pattern, the scheme of a connector followed by a colon, or the name of a service's
    /// protocol. The text of a middleware that intercepts all messages is `**`.
    public let pattern: String

    let core: BusCore
    let target: Target

    /// The entry that ``cancel()`` removes.
    enum Target: Sendable {
        case route(RouteID)
        case connection(Int)
        case service(Int)
        case subscription(Topics.SubscriberID)
        /// The number of a middleware; nil when the bus was already shut down, so that no middleware was
        /// added.
        case middleware(Int?)
        case exposure(ExposureTable.ID, Audience)
    }

    /// Cancels the registration.
    ///
    /// After this call, no message reaches the handler, connector or subscriber, and callers that wait for a
    /// reply fail at once with `noHandler`. A middleware continues to intercept the messages that it has
    /// already received. A second call has no effect. If another handler has replaced this handler, the call
    /// has no effect either.
    public func cancel() { self.core.unregister(self.target) }
}
