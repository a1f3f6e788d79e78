internal import WaybillRouting

/// A message's ID and how it ended.
struct Delivered: Sendable {
    let id: CorrelationID
    let outcome: Outcome

    func reply(from url: String) throws(RoutingError) -> Reply {
        switch self.outcome {
        case .replied(let value): return Reply(correlationID: self.id, value: value, url: url, isLast: true)
        case .failed(let error): throw error
        }
    }
}
