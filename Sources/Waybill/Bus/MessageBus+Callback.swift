public import WaybillRouting

extension MessageBus {
    /// Routes a URL, and lets a closure see and answer the replies that come before the last one.
    ///
    /// ```swift
    /// let receipt: Receipt = try await bus.route("app://pay/start") { (update: Progress) in update.isAcceptable }
    /// ```
    ///
    /// The closure runs where the caller is isolated, once for each reply and in their order; its value goes back to the
    /// handler, which waits for it. An error that it throws is thrown to the handler. What it routes belongs to the message
    /// that the handler is handling, and has its deadline.
    ///
    /// - Parameters:
    ///   - url: where to; without a scheme the default scheme is meant.
    ///   - parameters: values that join those of the URL and win over them; anything `Sendable`, closures included.
    ///   - headers: text for the infrastructure, beside the parameters.
    ///   - deadline: when to stop waiting; inside a handler, the deadline of its message holds too.
    ///   - as: the last reply's type, where it does not follow from the context.
    ///   - onReply: sees a reply before the last one, and answers it.
    /// - Returns: the value of the last reply.
    /// - Throws: what ``route(_:as:)`` throws.
    public nonisolated(nonsending) func route<Update: Sendable, Answer: Sendable, Value: Sendable>(
        _ url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        as: Value.Type = Value.self,
        _ onReply: (Update) async throws -> Answer
    ) async throws(RoutingError) -> Value {
        let request = Request(url, parameters, headers, deadline)
        let delivered = await self.core.route(request) { value in
            guard let update = converted(value, to: Update.self) else {
                throw RoutingError.typeMismatch(url: url, wanted: Update.self, found: value)
            }
            return try await onReply(update)
        }
        return try self.value(of: delivered.outcome, as: Value.self, url: url)
    }

    /// The replies to a request, one by one, the last one included.
    ///
    /// ```swift
    /// for try await reply in bus.replies(to: "app://pay/start") { show(try reply.value(as: Progress.self)) }
    /// ```
    ///
    /// A handler that waits for an answer gets `()`.
    public func replies(
        to url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil
    ) -> Replies {
        Replies(
            core: self.core,
            request: Request(url, parameters, headers, deadline)
        )
    }
}
