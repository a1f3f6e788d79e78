/// A message's ID and how it ended.
struct Delivered: Sendable {
    let id: CorrelationID
    let outcome: Outcome
}
