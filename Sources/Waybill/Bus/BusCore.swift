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
    private let others: [Lane]
    private let mailboxes = Locked<[ObjectIdentifier: Mailbox]>([:])

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
        for lane in lanes { self.books.open(lane.counters) }
    }

    var logger: Logger { self.configuration.logger }

    /// The lane of the loop that the calling thread runs, if it is one of the bus's.
    @inline(__always)
    var currentLane: Lane? {
        if self.home.eventLoop.isInEventLoop { return self.home }
        return self.others.isEmpty ? nil : self.others.first { $0.eventLoop.isInEventLoop }
    }

    /// The mailbox in front of an actor: one, however many handlers the actor has.
    func mailbox(of actor: any LoopBound) -> Mailbox {
        self.mailboxes.withLock { mailboxes in
            mailboxes[ObjectIdentifier(actor), default: self.makeMailbox(on: actor.eventLoop)]
        }
    }

    /// The mailbox in front of the plain closures of this bus.
    var homeMailbox: Mailbox {
        self.mailboxes.withLock { mailboxes in
            mailboxes[ObjectIdentifier(self), default: self.makeMailbox(on: self.home.eventLoop)]
        }
    }

    private func makeMailbox(on eventLoop: EventLoop) -> Mailbox {
        Mailbox(eventLoop: eventLoop, limit: self.configuration.mailboxLimit)
    }
}
