public import WaybillEventLoop
public import WaybillRouting

/// The configuration of a module's mailbox: its limit, its policy when full, and whether messages may
/// interleave.
///
/// ```swift
/// try bus.configureMailbox(of: printer, .init(limit: 16, whenFull: .suspend, isSerial: true))
/// ```
public struct MailboxConfiguration: Sendable, Hashable {
    /// The policy for a message that arrives when the mailbox is full.
    public enum Overflow: Sendable, Hashable {
        /// The message fails with `mailboxFull`, by default.
        case fail
        /// The sender is suspended until the message has a slot.
        ///
        /// Slots go to waiting senders in the order of arrival.
        ///
        /// A caller that awaits the reply is suspended anyway, so its message takes no slot. Only
        /// ``MessageBus/enqueue(_:parameters:headers:deadline:timeout:)`` waits for a slot.
        /// ``MessageBus/send(_:parameters:headers:)`` cannot wait, so its message fails.
        case suspend
        /// The oldest waiting message is dropped with `mailboxFull`.
        ///
        /// The dropped message becomes a dead letter if no caller awaits it.
        case dropOldest
    }

    /// The maximum number of waiting messages; nil for the limit of the bus.
    ///
    /// The smallest limit is 1, or 0 for a serial module.
    public var limit: Int?

    /// The policy for a message that arrives when the mailbox is full.
    public var whenFull: Overflow

    /// Whether the module finishes a message before it starts the next message.
    ///
    /// By default, the handlers of a module interleave at their suspension points, as the methods of an actor
    /// do. A message that a serial module routes to itself, directly or through other modules, would wait
    /// forever for the module's current message. The message therefore fails with `deadlock`.
    public var isSerial: Bool

    /// Creates a configuration.
    public init(limit: Int? = nil, whenFull: Overflow = .fail, isSerial: Bool = false) {
        self.limit = limit
        self.whenFull = whenFull
        self.isSerial = isSerial
    }
}

extension MessageBus {
    /// Configures the mailbox of a module.
    ///
    /// A module without this configuration has a mailbox with the bus's limit, and messages beyond the limit
    /// fail. The bus holds the module from this call until the module's last handler is unregistered.
    ///
    /// - Parameters:
    ///   - module: The module. It must not have a registered handler yet.
    ///   - configuration: The configuration of the mailbox.
    /// - Throws: `conflict` if the module already has handlers, or `shutDown`.
    public func configureMailbox(
        of module: some LoopBound,
        _ configuration: MailboxConfiguration
    ) throws(RoutingError) {
        let core = self.core
        let mailbox = Mailbox(
            eventLoop: module.checkedEventLoop,
            configuration: configuration,
            limit: core.configuration.mailboxLimit,
            owner: module
        )
        let isFirst = try core.mailboxes.withLock { mailboxes throws(RoutingError) in
            // Check the phase under the lock. The module is then either rejected here, or the shutdown
            // releases it.
            try core.checkOpen(for: "")
            return mailboxes.join(mailbox, of: module)
        }
        guard isFirst else {
            let message = "configure the mailbox of \(type(of: module)) before its handlers are registered"
            throw RoutingError(.conflict, url: "", message: message)
        }
    }

    /// Sends a message that no caller awaits, and waits until the mailbox of its module has a slot.
    ///
    /// Use this method for a module whose mailbox suspends senders (``MailboxConfiguration``). The sender
    /// waits while the mailbox is full, whereas messages of ``send(_:parameters:headers:)`` fail. With other
    /// mailboxes this method does not wait for a slot.
    ///
    /// This method has the parameters of ``route(_:parameters:headers:deadline:timeout:)``. The deadline also
    /// applies to the handler, which is then not started or is cancelled.
    ///
    /// - Throws: The reason why the message did not reach a mailbox: `noRoute`, `mailboxFull`,
    ///   `deadlineExceeded`, `cancelled` if the sender was cancelled while it waited, or `deadlock` if a
    ///   serial module would wait for a slot in its own full mailbox. The sender does not receive failures
    ///   that happen after the message has a slot.
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
    /// Returns the mailbox of an actor for a new handler, whose deinitializer must call
    /// ``MailboxRegister/leave(_:)``.
    func mailbox(of actor: any LoopBound) -> Mailbox {
        let eventLoop = actor.checkedEventLoop
        self.watch(eventLoop)
        let mailbox = self.mailboxes.withLock { mailboxes in
            mailboxes.join(actor) {
                Mailbox(eventLoop: eventLoop, limit: self.configuration.mailboxLimit, owner: actor)
            }
        }
        precondition(
            mailbox.eventLoop === eventLoop,
            "`eventLoop` of \(type(of: actor)) has changed since it was registered: make it a constant"
        )
        return mailbox
    }

    /// Stops holding modules whose installation has failed.
    func releaseModules(_ modules: [some LoopBound]) {
        self.mailboxes.withLock { mailboxes in
            for module in modules { mailboxes.releaseModule(ObjectIdentifier(module)) }
        }
    }
}

/// The mailboxes of a bus: one mailbox for all handlers of a module.
struct MailboxRegister {
    private var entries: [ObjectIdentifier: Entry] = [:]

    private struct Entry {
        let mailbox: Mailbox
        /// The number of handlers that exist.
        var users = 0
        /// The number of handlers that have not been retired.
        var registered = 0
        /// The module, from its configuration until its first handler is registered and holds it.
        ///
        /// While an entry holds the module, no other object can get the module's identifier.
        var module: (any LoopBound)?
    }

    /// Adds the mailbox of a module, or returns false if the module already has registered handlers.
    mutating func join(_ mailbox: Mailbox, of module: any LoopBound) -> Bool {
        let owner = ObjectIdentifier(module)
        if let entry = self.entries[owner], entry.registered > 0 { return false }
        self.entries[owner] = self.entry(with: mailbox, of: owner)
        self.entries[owner]?.module = module
        return true
    }

    /// Returns the entry of a module that has no registered handlers.
    ///
    /// If retired handlers have a mailbox with the same configuration, the module keeps that mailbox. A
    /// serial module then handles the last message of these handlers before the next message.
    private func entry(with mailbox: Mailbox, of owner: ObjectIdentifier) -> Entry {
        if let entry = self.entries[owner], entry.mailbox.hasConfiguration(of: mailbox) { return entry }
        return Entry(mailbox: mailbox)
    }

    /// Returns the mailbox of a module, created for the first handler, and counts one more handler.
    mutating func join(_ module: any LoopBound, make: () -> Mailbox) -> Mailbox {
        let owner = ObjectIdentifier(module)
        let existing = self.entries[owner].flatMap { $0.registered > 0 || $0.module != nil ? $0 : nil }
        var entry = existing ?? self.entry(with: make(), of: owner)
        entry.users += 1
        entry.registered += 1
        self.entries[owner] = entry
        return entry.mailbox
    }

    /// Counts one more handler, which shares the code of another handler of its module, until the handler
    /// calls ``leave(_:)``.
    mutating func rejoin(_ mailbox: Mailbox) {
        self.update(mailbox) { entry in
            entry.users += 1
            entry.registered += 1
        }
    }

    /// Counts one registered handler of a module less.
    ///
    /// The loops may still hold the handler, and its last messages may still be in progress.
    mutating func retire(from mailbox: Mailbox) { self.update(mailbox) { $0.registered -= 1 } }

    /// Counts one handler of a module less, which must be retired.
    ///
    /// The configuration of a module stays when the registration of its first handler fails. The caller must
    /// still hold the module.
    mutating func leave(_ mailbox: Mailbox) { self.update(mailbox) { $0.users -= 1 } }

    /// Changes the entry of a mailbox's module, unless the module has another mailbox now.
    ///
    /// The mailbox of handlers that are closures has no entry.
    private mutating func update(_ mailbox: Mailbox, _ change: (inout Entry) -> Void) {
        guard let owner = mailbox.owner, var entry = self.entries[owner], entry.mailbox === mailbox else {
            return
        }
        change(&entry)
        self.entries[owner] = entry.users > 0 || entry.module != nil ? entry : nil
    }

    /// Stops holding a module, because a registered handler holds it, unless the module has another mailbox
    /// now.
    ///
    /// Without handlers, the module's mailbox is removed.
    mutating func releaseModule(of mailbox: Mailbox) { self.update(mailbox) { $0.module = nil } }

    /// Stops holding a module, with any mailbox.
    mutating func releaseModule(_ owner: ObjectIdentifier) {
        guard let mailbox = self.entries[owner]?.mailbox else { return }
        self.releaseModule(of: mailbox)
    }

    /// Removes the mailboxes that have no handlers, and returns the modules that the register held.
    mutating func releaseAllModules() -> [any LoopBound] {
        let modules = self.entries.values.compactMap(\.module)
        for owner in self.entries.keys { self.entries[owner]?.module = nil }
        self.entries = self.entries.filter { $0.value.users > 0 }
        return modules
    }
}
