internal import Logging
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The state of a bus.
///
/// Handlers retain the core. When the user's ``MessageBus`` is released, the `MessageBus` unregisters all
/// handlers, so that the handlers release the core.
final class BusCore: Sendable {
    let configuration: MessageBus.Configuration
    let registry: RouteRegistry
    let topics: Topics
    let statistics: Statistics
    let deadLetters = DeadLetterObservers()
    let uncaught = Locked<UncaughtHandler?>(nil)
    /// The number of calls of ``uncaught``, the handler for URLs without a route, that have not returned.
    let uncaughtCalls = Atomic<Int>(0)
    let phase = Atomic<Phase>(.open)

    /// The clock of the first loop, by which all deadlines of the bus are measured.
    let time: TimeSource

    /// The loop that runs the handlers that are closures.
    let primaryShard: LoopShard
    let otherShards: [LoopShard]

    /// The mailbox of the handlers that are closures.
    let homeMailbox: Mailbox
    let mailboxes = Locked(MailboxRegister())
    let hooks = Locked<[ObjectIdentifier: ShutDownHook]>([:])
    let exempt = Locked(DrainExemptions())
    /// The exchanges of intercepted messages without a handler; nil after the bus has shut down.
    let withoutHandler = Locked<[CorrelationID: Exchange]?>([:])
    let drainWaiters = Locked(Numbered<DrainWaiter>())
    let configured = Locked(ConfigurationRegister())
    let services = Locked(ServiceRegister())
    let attachments = Attachments()
    let readinessChecks = Locked(Numbered<NamedCheck>())
    let exposures: Exposures
    /// The URLs that other processes of the cluster can reach.
    let shares: Exposures

    /// The default scheme that replaced the configured scheme; nil when the default scheme has not changed.
    let defaultScheme = Locked<String?>(nil)
    /// The lock that serializes changes of the default scheme.
    let defaultSchemeChange = Locked<Void>(())

    init(eventLoops: [EventLoop], configuration: MessageBus.Configuration) {
        precondition(!eventLoops.isEmpty, "a bus must have at least one event loop")
        let table = configuration.table(of: Target.self)
        let registry = RouteRegistry(table: table)
        let empty = Snapshot(Routes(table: table))
        let topics = Topics()
        let shards = eventLoops.map {
            LoopShard(eventLoop: $0, registry: registry, empty: empty, topics: topics)
        }
        self.configuration = configuration
        self.time = eventLoops[0].time
        self.statistics = Statistics(of: shards.map(\.counters))
        self.registry = registry
        self.topics = topics
        self.exposures = Exposures(configuration)
        self.shares = Exposures(configuration)
        self.primaryShard = shards[0]
        self.otherShards = Array(shards.dropFirst())
        self.homeMailbox = Mailbox(eventLoop: shards[0].eventLoop, limit: configuration.mailboxLimit)
        self.watch(shards[0].eventLoop)
    }

    var eventLoops: [EventLoop] { [self.primaryShard.eventLoop] + self.otherShards.map(\.eventLoop) }

    /// Throws `shutDown` unless the bus is open.
    func checkOpen(for url: String) throws(RoutingError) {
        guard self.phase.load(ordering: .sequentiallyConsistent) == .open else { throw .shutDown(url: url) }
    }

    var logger: Logger { self.configuration.logger }

    /// The state of the bus on the calling thread's loop; nil when the thread runs no loop of the bus.
    @inline(__always)
    var currentShard: BorrowedShard? {
        if self.primaryShard.isCurrent { return BorrowedShard(self.primaryShard) }
        return self.otherShards.isEmpty ? nil : self.otherShard(where: \.isCurrent)
    }

    /// Returns the state of the bus on a loop, or nil when the loop does not belong to the bus.
    func shard(of eventLoop: ObjectIdentifier) -> BorrowedShard? {
        self.primaryShard.loop == eventLoop
            ? BorrowedShard(self.primaryShard) : self.otherShard(where: { $0.loop == eventLoop })
    }

    /// Returns the first of the other shards that satisfies a condition.
    func otherShard(where condition: (LoopShard) -> Bool) -> BorrowedShard? {
        self.otherShards.first(where: condition).map(BorrowedShard.init)
    }
}

extension BusCore {
    /// Makes every loop release the handlers that have been unregistered.
    func forget() {
        for shard in [self.primaryShard] + self.otherShards { shard.forget() }
    }

    /// Registers a hook that retires a loop's handlers and fails their callers when the loop stops.
    func watch(_ eventLoop: EventLoop) {
        let id = ObjectIdentifier(eventLoop)
        self.hooks.withLock { hooks in
            guard hooks[id] == nil, self.phase.load(ordering: .sequentiallyConsistent) != .closed else {
                return
            }
            hooks[id] = eventLoop.onShutDown { self.stop(id) }
        }
    }

    /// Cancels the hooks that ``watch(_:)`` has registered.
    func unwatch() {
        let hooks = self.hooks.withLock { Swift.exchange(&$0, with: [:]) }
        for hook in hooks.values { hook.cancel() }
    }

    /// Retires the handlers of a stopped loop, which stay registered but receive no more messages.
    private func stop(_ eventLoop: ObjectIdentifier) {
        _ = self.hooks.withLock { $0.removeValue(forKey: eventLoop) }
        let hidden = self.configured.withLock { $0.hiddenTargets }.flatMap(\.members)
        for handler in self.registry.handlers + self.topics.handlers + hidden
        where ObjectIdentifier(handler.mailbox.eventLoop) == eventLoop {
            handler.retire(with: RoutingError.loopShutDown)
        }
    }
}
