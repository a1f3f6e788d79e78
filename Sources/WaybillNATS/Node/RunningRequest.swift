internal import WaybillServe

/// An unanswered request or event of another node or a client.
///
/// The request uses a part of the ``RequestBudget`` until this object is released.
final class RunningRequest: RequestRecord {
    private let charge: RequestBudget.Charge
    /// The charge for the bytes of the batch; nil if the request is not in a batch.
    private let batch: RequestBudget.BatchCharge?
    private let tally: EndpointTally
    /// The subject for which the request is counted; nil if the request is not counted.
    private let subject: String?
    private let start = ContinuousClock.now

    /// Creates the record of a request that this node now begins to handle.
    ///
    /// `subject` is nil if the message was not sent to an endpoint.
    init(
        _ charge: consuming RequestBudget.Charge,
        in batch: RequestBudget.BatchCharge?,
        tally: EndpointTally,
        subject: String?
    ) {
        self.charge = charge
        self.batch = batch
        self.tally = tally
        self.subject = subject
        if let subject { tally.begin(subject) }
    }

    func end(failure: String?) {
        guard let subject = self.subject else { return }
        self.tally.end(subject, after: self.start.duration(to: .now), failure: failure)
    }
}
