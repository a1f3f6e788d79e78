public import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Sets up how a module takes its messages: how many may wait, what happens to one more, and whether they may
    /// interleave.
    ///
    /// Without it a module has a mailbox with the bus's limit that fails what is too much. The bus holds the module from
    /// here on until its last handler is unregistered.
    ///
    /// - Parameters:
    ///   - module: the module, before any of its handlers is registered.
    ///   - configuration: how it takes its messages.
    /// - Throws: `conflict` if the module has handlers already.
    public func configureMailbox(
        of module: some LoopBound,
        _ configuration: MailboxConfiguration
    ) throws(RoutingError) {
        try self.core.configureMailbox(of: module, configuration)
    }

    /// Sends a message that nobody awaits, and waits until its module has a place for it.
    ///
    /// It is for a sender that is faster than a module with a mailbox that suspends (``MailboxConfiguration``): the
    /// sender is slowed down, where ``send(_:parameters:headers:)`` would lose messages. With any other mailbox it does
    /// not wait.
    ///
    /// - Parameters:
    ///   - url: where to; without a scheme the default scheme is meant.
    ///   - parameters: values that join those of the URL and win over them.
    ///   - headers: text for the infrastructure, beside the parameters.
    ///   - deadline: when to give up, and when the message is not worth handling any more: its handler is not
    ///     begun after that, or cancelled. Inside a handler, the deadline of its message holds too.
    ///   - timeout: the same as a time from now on, by the bus's clock; of deadline and timeout the earlier
    ///     one holds, and a timeout that is not positive is up at once.
    /// - Throws: why the message did not get into a mailbox: `noRoute`, `mailboxFull`, `deadlineExceeded`,
    ///   `cancelled` if the sender was cancelled while it waited, `deadlock` if a serial module would wait
    ///   for a place in its own full mailbox. What happens afterwards nobody is told.
    public nonisolated(nonsending) func enqueue(
        _ url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        timeout: Duration? = nil
    ) async throws(RoutingError) {
        try await self.core.enqueue(
            Request(url, parameters, headers, deadline, timeout, by: self.core.time)
        )
    }
}
