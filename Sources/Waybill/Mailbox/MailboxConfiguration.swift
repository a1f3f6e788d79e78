public import WaybillEventLoop
public import WaybillRouting

/// How a module takes its messages: how many may wait, what happens to one more, and whether they may
/// interleave.
///
/// ```swift
/// try bus.configureMailbox(of: printer, .init(limit: 16, whenFull: .suspend, isSerial: true))
/// ```
public struct MailboxConfiguration: Sendable, Hashable {
    /// What happens to a message that finds the mailbox full.
    public enum Overflow: Sendable, Hashable {
        /// It fails with `mailboxFull`; the default.
        case fail
        /// Its sender waits, and is served in the order of arrival.
        ///
        /// A caller that awaits the reply waits anyway and takes no slot, so that only
        /// ``MessageBus/enqueue(_:parameters:headers:deadline:timeout:)`` waits for a slot. What cannot wait,
        /// ``MessageBus/send(_:parameters:headers:)``, fails.
        case suspend
        /// The message that has waited longest is dropped with `mailboxFull`, and is a dead letter if no
        /// caller awaits it.
        case dropOldest
    }

    /// How many messages may wait, at least 1, or 0 for a serial module; nil for the bus's own limit.
    public var limit: Int?

    /// What happens to one more.
    public var whenFull: Overflow

    /// Whether a message is finished before the next one is started; by default handlers interleave where
    /// they suspend, as actors do.
    ///
    /// A serial module that routes to itself, directly or through others, would wait for itself for ever:
    /// such a message fails with `deadlock`.
    public var isSerial: Bool

    /// Makes a configuration; everything has a default.
    public init(limit: Int? = nil, whenFull: Overflow = .fail, isSerial: Bool = false) {
        self.limit = limit
        self.whenFull = whenFull
        self.isSerial = isSerial
    }
}

extension MessageBus {
    /// Sets up how a module takes its messages: how many may wait, what happens to one more, and whether they
    /// may interleave.
    ///
    /// Without it a module has a mailbox with the bus's limit that fails messages beyond it. The bus holds
    /// the module from here on until its last handler is unregistered.
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

    /// Sends a message that no caller awaits, and waits until its module has a slot for it.
    ///
    /// It is for a sender that is faster than a module with a mailbox that suspends
    /// (``MailboxConfiguration``): the sender is slowed down, where ``send(_:parameters:headers:)`` would
    /// lose messages. With any other mailbox it does not wait.
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
    ///   for a slot in its own full mailbox. What happens afterwards is not reported to the sender.
    public nonisolated(nonsending) func enqueue(
        _ url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        timeout: Duration? = nil
    ) async throws(RoutingError) {
        try await self.core.enqueue(
            Request(
                url: url,
                parameters: parameters,
                headers: headers,
                deadline: deadline,
                timeout: timeout,
                by: self.core.time
            )
        )
    }
}

extension BusCore {
    /// Sets up how a module takes its messages.
    func configureMailbox(
        of module: some LoopBound,
        _ configuration: MailboxConfiguration
    ) throws(RoutingError) {
        let mailbox = self.makeMailbox(of: module, on: module.checkedEventLoop, configuration)
        guard self.mailboxes.withLock({ $0.add(mailbox, of: module) }) else {
            throw RoutingError(
                .conflict,
                url: "",
                message:
                    "the mailbox of \(type(of: module)) has to be configured before its handlers are registered"
            )
        }
    }

    /// The mailbox in front of an actor.
    ///
    /// The handler that is made with it gives it back with ``leave(_:)``.
    func mailbox(of actor: any LoopBound) -> Mailbox {
        let eventLoop = actor.checkedEventLoop
        self.watch(eventLoop)
        let mailbox = self.mailboxes.withLock { mailboxes in
            mailboxes.join(actor) { self.makeMailbox(of: actor, on: eventLoop, MailboxConfiguration()) }
        }
        precondition(
            mailbox.eventLoop === eventLoop,
            "`eventLoop` of \(type(of: actor)) has changed since it was registered: make it a constant"
        )
        return mailbox
    }

    /// Takes a mailbox once more; each call is balanced by one of ``leave(_:)``.
    func rejoin(_ mailbox: Mailbox) {
        guard let owner = mailbox.owner else { return }
        self.mailboxes.withLock { $0.rejoin(owner) }
    }

    /// Gives a mailbox back.
    func leave(_ mailbox: Mailbox) {
        guard let owner = mailbox.owner else { return }
        self.mailboxes.withLock { $0.leave(owner) }
    }

    private func makeMailbox(
        of actor: any LoopBound,
        on eventLoop: EventLoop,
        _ configuration: MailboxConfiguration
    ) -> Mailbox {
        Mailbox(
            eventLoop: eventLoop,
            configuration: configuration,
            limit: self.configuration.mailboxLimit,
            owner: actor
        )
    }
}

/// The mailboxes of a bus, one in front of each module, however many handlers that has.
struct MailboxRegister {
    private var entries: [ObjectIdentifier: Entry] = [:]

    private struct Entry {
        let mailbox: Mailbox
        var users = 0
        /// Kept until the first handler, which holds the module, so that the module's identifier stays its
        /// own.
        var module: (any LoopBound)?
    }

    /// Sets a module's mailbox up before it has handlers.
    ///
    /// - Returns: false if it has some.
    mutating func add(_ mailbox: Mailbox, of module: any LoopBound) -> Bool {
        let owner = ObjectIdentifier(module)
        if let entry = self.entries[owner], entry.users > 0 { return false }
        self.entries[owner] = Entry(mailbox: mailbox, module: module)
        return true
    }

    /// The mailbox of one more handler of a module.
    mutating func join(_ module: any LoopBound, make: () -> Mailbox) -> Mailbox {
        let owner = ObjectIdentifier(module)
        var entry = self.entries[owner] ?? Entry(mailbox: make())
        entry.users += 1
        entry.module = nil
        self.entries[owner] = entry
        return entry.mailbox
    }

    /// The same for a handler that shares the code of another one.
    mutating func rejoin(_ owner: ObjectIdentifier) { self.entries[owner]?.users += 1 }

    /// Gives a mailbox back; the last caller to do so still holds the module.
    mutating func leave(_ owner: ObjectIdentifier) {
        guard let users = self.entries[owner]?.users else { return }
        if users > 1 { self.entries[owner]?.users = users - 1 } else { self.entries[owner] = nil }
    }
}
