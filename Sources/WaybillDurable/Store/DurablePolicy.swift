#if Durable
internal import WaybillEventLoop
public import Waybill
public import WaybillRouting

/// The way in which a store delivers the messages of some URLs: attempts, waits, and limits.
public struct DurablePolicy: Sendable {
    /// The number of attempts, including the first, after which a message becomes a dead letter.
    ///
    /// An attempt counts when it begins. If the number is 1, a message is handled at most once.
    public var attempts: Int
    /// The wait between two attempts.
    public var backoff: Backoff
    /// The number of messages that are handled at the same time.
    ///
    /// If a module handles one message at a time, choose a number below ``timeout`` divided by the time that
    /// the module needs for one message, because the timeout includes the wait in the module's mailbox.
    public var concurrency: Int
    /// How long a handler may run before its task is cancelled and the attempt has failed.
    public var timeout: Duration

    /// Creates a policy from arguments that all have defaults.
    public init(
        attempts: Int = 10,
        backoff: Backoff = Backoff(first: .seconds(1), longest: .seconds(600)),
        concurrency: Int = 64,
        timeout: Duration = .seconds(60)
    ) {
        self.attempts = max(1, attempts)
        self.backoff = backoff
        self.concurrency = max(1, concurrency)
        self.timeout = timeout
    }
}

extension DurableStore {
    /// Sets the policy by which messages of some URLs are delivered.
    ///
    /// If several patterns match a URL, the most specific pattern applies. The limit on concurrent attempts
    /// applies to messages that are sent after the policy was set.
    ///
    /// - Throws: `invalidPattern`, or `conflict` if the pattern of another policy of the store matches the
    ///   same URLs.
    public func setPolicy(_ policy: DurablePolicy, for pattern: String) throws(RoutingError) {
        try self.engine.updateSettings { settings throws(RoutingError) in
            var policies = settings.policies
            try policies.add(policy, for: pattern)
            return StoreSettings(settings.configuration, policies: policies, bus: settings.bus)
        }
    }
}

/// The policies of a store.
struct DurablePolicies: Sendable {
    /// The name of the lane (the queue) for messages without a policy.
    static let commonLane = ""
    /// The name of the lane for messages that the end of a process has interrupted more than once.
    static let interruptedLane = "interrupted"

    private let configuration: MessageBus.Configuration
    private var table: RouteTable<Entry>
    private var entries: [Entry] = []

    private typealias Entry = (pattern: String, lane: String, policy: DurablePolicy)

    init(of configuration: MessageBus.Configuration = .init()) {
        var configuration = configuration
        // A store accepts each URL that the bus accepts, and a pattern selects only the URLs that it matches.
        configuration.conventions.schemeMustBeRegistered = false
        configuration.conventions.fallsBack = false
        configuration.conventions.bestMatch = .mostSpecific
        configuration.conventions.sameShape = .conflicts
        self.configuration = configuration
        self.table = configuration.table()
    }

    /// Adds a policy; throws `conflict` if the pattern of another policy matches the same URLs.
    mutating func add(_ policy: DurablePolicy, for pattern: String) throws(RoutingError) {
        // Two texts that are different for SQLite are possibly equal for Swift, unless they are ASCII.
        let name = pattern.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
        let entry = (pattern: pattern, lane: "policy:\(name)", policy: policy)
        try self.table.insert(pattern, entry)
        self.entries.append(entry)
    }

    /// Returns the same policies for a bus, whose routing conventions may differ.
    func with(_ configuration: MessageBus.Configuration) throws(RoutingError) -> DurablePolicies {
        var policies = DurablePolicies(of: configuration)
        for entry in self.entries { try policies.add(entry.policy, for: entry.pattern) }
        return policies
    }

    /// Returns the lane of a URL; each policy has its own lane.
    func lane(of url: String) throws(RoutingError) -> String {
        try self.entry(of: url)?.lane ?? Self.commonLane
    }

    /// Returns the lane of a URL in the file, which another version of the program may have written.
    func lane(ofStored url: String) -> String { (try? self.lane(of: url)) ?? Self.commonLane }

    func policy(of url: String) -> DurablePolicy { (try? self.entry(of: url)?.policy) ?? DurablePolicy() }

    func concurrency(of lane: String) -> Int {
        if lane == Self.interruptedLane { return 1 }
        let entry = self.entries.first { $0.lane == lane }
        return entry?.policy.concurrency ?? DurablePolicy().concurrency
    }

    /// Returns a table with a pattern, to test which URLs match the pattern; nil if the pattern is nil.
    func scope(of pattern: String?) throws(RoutingError) -> RouteTable<Void>? {
        guard let pattern else { return nil }
        return try self.configuration.scope(of: pattern)
    }

    private func entry(of url: String) throws(RoutingError) -> Entry? {
        guard let match = try self.table.match(url) else { return nil }
        return self.table.handler(for: match.route)
    }
}
#endif
