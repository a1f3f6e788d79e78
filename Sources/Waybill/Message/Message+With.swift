internal import WaybillEventLoop
internal import WaybillRouting

/// Messages made from a message, for middlewares to pass on.
extension Message {
    /// The message with more values, which win over those that it has.
    public func with(parameters: [String: any Sendable]) -> Message {
        var message = self
        message.parameters = self.parameters.merging(call: parameters)
        return message
    }

    /// The message with more headers, which win over those that it has.
    public func with(headers: [String: String]) -> Message {
        guard !headers.isEmpty else { return self }
        let extras = self.extras ?? .empty
        return self.with(extras: extras.with(headers: extras.headers.merging(headers) { _, new in new }))
    }

    /// The message with a deadline; of two deadlines the earlier one holds.
    public func with(deadline: ContinuousClock.Instant) -> Message {
        self.with(due: min(self.due, Deadline(deadline)))
    }
}
