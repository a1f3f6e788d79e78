internal import Logging
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// What a bus is made of.
///
/// Handlers hold it; the ``MessageBus`` that users hold empties it when it goes away.
final class BusCore: Sendable {
    let configuration: MessageBus.Configuration
    let directory: Directory
    let topics = Topics()
    let books = Books()
    let uncaught = Locked<(@Sendable (Message) -> Void)?>(nil)
    let phase = Atomic<Phase>(.open)

    /// The loop on which plain closures run.
    let home: Lane
    let others: [Lane]

    /// The mailbox in front of the plain closures.
    let homeMailbox: Mailbox
    private let mailboxes = Locked<[ObjectIdentifier: (mailbox: Mailbox, users: Int)]>([:])
    let hooks = Locked<[ObjectIdentifier: ShutDownHook]>([:])
    let spared = Locked(Spared())

    init(eventLoops: [EventLoop], configuration: MessageBus.Configuration) {
        precondition(!eventLoops.isEmpty, "a bus needs an event loop")
        let table = RouteTable<Handler>(
            conventions: configuration.conventions,
            defaultScheme: configuration.defaultScheme,
            limits: configuration.limits
        )
        let directory = Directory(table: table)
        let snapshot = Snapshot(table: table, generation: 0)
        let lanes = eventLoops.map { Lane(eventLoop: $0, directory: directory, snapshot: snapshot) }
        self.configuration = configuration
        self.directory = directory
        self.home = lanes[0]
        self.others = Array(lanes.dropFirst())
        self.homeMailbox = Mailbox(eventLoop: lanes[0].eventLoop, limit: configuration.mailboxLimit)
        for lane in lanes { self.books.open(lane.counters) }
        self.watch(lanes[0].eventLoop)
    }

    var logger: Logger { self.configuration.logger }

    /// The lane of the loop that the calling thread runs, if it is one of the bus's.
    @inline(__always)
    var currentLane: Lane? {
        if self.home.isCurrent { return self.home }
        return self.others.isEmpty ? nil : self.others.first { $0.isCurrent }
    }

    /// The mailbox in front of an actor: one, however many handlers the actor has.
    ///
    /// The handler that is made with it gives it back with ``leave(_:)``.
    func mailbox(of actor: any LoopBound) -> Mailbox {
        self.watch(actor.eventLoop)
        let owner = ObjectIdentifier(actor)
        return self.mailboxes.withLock { mailboxes in
            if let place = mailboxes[owner] {
                mailboxes[owner] = (place.mailbox, place.users + 1)
                return place.mailbox
            }
            let limit = self.configuration.mailboxLimit
            let mailbox = Mailbox(eventLoop: actor.eventLoop, limit: limit, owner: owner)
            mailboxes[owner] = (mailbox, 1)
            return mailbox
        }
    }

    /// Gives a mailbox back; the last one to do so holds the actor still, so that its place in memory is its own.
    func leave(_ mailbox: Mailbox) {
        guard let owner = mailbox.owner else { return }
        self.mailboxes.withLock { mailboxes in
            guard let place = mailboxes[owner] else { return }
            mailboxes[owner] = place.users == 1 ? nil : (place.mailbox, place.users - 1)
        }
    }
}
