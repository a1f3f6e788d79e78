/// What a route made inside a handler inherits from the message that is being handled.
///
/// An object, because the layout of an instant is not known at compile time: as a value, the question whether there is a
/// context would go through the runtime for every message.
final class DeliveryContext: Sendable {
    /// How many routes led to the message.
    let hops: Int
    /// When its caller stops waiting.
    let deadline: ContinuousClock.Instant?

    init(hops: Int, deadline: ContinuousClock.Instant?) {
        self.hops = hops
        self.deadline = deadline
    }

    @TaskLocal static var current: DeliveryContext?
}
