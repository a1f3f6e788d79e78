internal import WaybillRouting

/// A message's ID and how it ended.
struct Delivered: Sendable {
    let id: CorrelationID
    let outcome: Outcome
    /// Where the value went beside the caller, if it did.
    var returnPath: ReturnPath?

    func reply(from url: String) throws(RoutingError) -> Reply {
        switch self.outcome {
        case .replied(let value):
            return Reply(
                correlationID: self.id,
                value: value,
                url: url,
                isLast: true,
                returnLeg: self.returnPath.map(ReturnLeg.init)
            )
        case .failed(let error): throw error
        }
    }
}
