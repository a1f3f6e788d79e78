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
    let topics: Topics
    let books = Books()
    let deadLetters = DeadLetterOffice()
    let uncaught = Locked<(@Sendable (Message) -> Void)?>(nil)
    let phase = Atomic<Phase>(.open)

    /// What deadlines go by: the time of the first loop.
    let time: TimeSource

    /// The loop on which plain closures run.
    let home: Lane
    let others: [Lane]

    /// The mailbox in front of the plain closures.
    let homeMailbox: Mailbox
    let mailboxes = Locked(MailboxRegister())
    let hooks = Locked<[ObjectIdentifier: ShutDownHook]>([:])
    let spared = Locked(Spared())
    let configured = Locked<Configured?>(nil)
    let services = Locked(ServiceRegister())
    let performFailed = Locked<(@Sendable (RoutingError) -> Void)?>(nil)

    init(eventLoops: [EventLoop], configuration: MessageBus.Configuration) {
        precondition(!eventLoops.isEmpty, "a bus needs an event loop")
        let table = configuration.table(of: Handler.self)
        let directory = Directory(table: table)
        let snapshot = Snapshot(table: table, generation: 0)
        let topics = Topics()
        let lanes = eventLoops.map {
            Lane(eventLoop: $0, directory: directory, snapshot: snapshot, topics: topics)
        }
        self.configuration = configuration
        self.time = eventLoops[0].time
        self.directory = directory
        self.topics = topics
        self.home = lanes[0]
        self.others = Array(lanes.dropFirst())
        self.homeMailbox = Mailbox(
            eventLoop: lanes[0].eventLoop,
            configuration: MailboxConfiguration(),
            limit: configuration.mailboxLimit
        )
        for lane in lanes { self.books.open(lane.counters) }
        self.watch(lanes[0].eventLoop)
    }

    /// The loops of the bus.
    var eventLoops: [EventLoop] { [self.home.eventLoop] + self.others.map(\.eventLoop) }

    var logger: Logger { self.configuration.logger }

    /// The lane of the loop that the calling thread runs, if it is one of the bus's.
    @inline(__always)
    var currentLane: Lane? {
        if self.home.isCurrent { return self.home }
        return self.others.isEmpty ? nil : self.others.first { $0.isCurrent }
    }

    /// The lane of a loop, if it is one of the bus's.
    func lane(of eventLoop: ObjectIdentifier) -> Lane? {
        self.home.loop == eventLoop ? self.home : self.others.first { $0.loop == eventLoop }
    }
}
