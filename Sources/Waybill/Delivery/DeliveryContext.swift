/// What a route made inside a handler inherits from the message that is being handled.
struct DeliveryContext: Sendable {
    /// How many routes led to the message.
    let hops: Int
    /// When its caller stops waiting.
    let deadline: ContinuousClock.Instant?

    @TaskLocal static var current: DeliveryContext?
}
