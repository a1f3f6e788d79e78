internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Sets up how a module takes its messages.
    func configureMailbox(
        of module: some LoopBound,
        _ configuration: MailboxConfiguration
    ) throws(RoutingError) {
        let mailbox = self.makeMailbox(of: module, configuration)
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
        self.watch(actor.eventLoop)
        return self.mailboxes.withLock { mailboxes in
            mailboxes.join(actor) { self.makeMailbox(of: actor, MailboxConfiguration()) }
        }
    }

    /// Takes a mailbox once more; whoever does so gives it back with ``leave(_:)``.
    func rejoin(_ mailbox: Mailbox) {
        guard let owner = mailbox.owner else { return }
        self.mailboxes.withLock { $0.rejoin(owner) }
    }

    /// Gives a mailbox back.
    func leave(_ mailbox: Mailbox) {
        guard let owner = mailbox.owner else { return }
        self.mailboxes.withLock { $0.leave(owner) }
    }

    private func makeMailbox(of actor: any LoopBound, _ configuration: MailboxConfiguration) -> Mailbox {
        Mailbox(
            eventLoop: actor.eventLoop,
            configuration: configuration,
            limit: self.configuration.mailboxLimit,
            owner: actor
        )
    }
}
