internal import WaybillEventLoop

/// The mailboxes of a bus, one in front of each module, however many handlers that has.
struct MailboxRegister {
    private var entries: [ObjectIdentifier: Entry] = [:]

    private struct Entry {
        let mailbox: Mailbox
        var users = 0
        /// Kept until the first handler, which holds the module, so that its place in memory stays its own.
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

    /// Gives a mailbox back; the last one to do so holds the module still.
    mutating func leave(_ owner: ObjectIdentifier) {
        guard let users = self.entries[owner]?.users else { return }
        if users > 1 { self.entries[owner]?.users = users - 1 } else { self.entries[owner] = nil }
    }
}
