/// The registration of a handler, a connector, a service, a subscriber, a middleware, or an exposed or shared
/// pattern.
///
/// If you drop the registration, its entry stays registered.
public struct Registration: Sendable {
    /// A pattern, the scheme of a connector followed by a colon, or the name of a service's protocol.
    ///
    /// The pattern of a middleware that intercepts all messages is `**`.
    public let pattern: String

    /// Removes the entry; has no effect if the entry does not exist.
    let remove: @Sendable () -> Void

    /// Cancels the registration.
    ///
    /// After this call, no message reaches the handler, connector or subscriber, and callers that wait for a
    /// reply fail at once with `noHandler`. A middleware continues to intercept the messages that it has
    /// already received. A second call has no effect. If another handler has replaced this handler, the call
    /// has no effect either.
    public func cancel() { self.remove() }
}
