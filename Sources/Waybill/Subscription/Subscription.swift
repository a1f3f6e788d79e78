/// A subscriber's place; keep it to end the subscription.
public struct Subscription: Sendable {
    /// The pattern that was subscribed to.
    public let pattern: String

    let core: BusCore
    let place: Topics.Place

    /// Ends the subscription; doing so again changes nothing.
    public func cancel() { self.core.unsubscribe(self) }
}
