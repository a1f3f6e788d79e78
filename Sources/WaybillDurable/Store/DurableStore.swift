#if Durable
public import Logging
public import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// A file that keeps messages until they have been handled, even if the process ends.
///
/// ```swift
/// let store = try await DurableStore("shop.db")
/// try await bus.attach(store)
/// try await store.send("app://mail/receipt?order=7")
/// ```
///
/// The file is an SQLite database. A send returns when its message is on disk. Any route can be the
/// destination. A handler that returns completes its message; a handler that throws is called again,
/// according to the policy of the URL, until the message becomes a dead letter in the file.
///
/// A handler may be called more than once for a message: the process may end after the handler has returned,
/// and before the completion is on disk. Rows that the handler writes with `message.complete` are written
/// exactly once, together with the completion.
///
/// Only one store can open a file, in one process. All methods can be called from any isolation. They wait
/// without blocking a thread; the store has its own thread for the file. In a simulation
/// (`WaybillSimulation`), a store belongs to its node, and its file is in memory.
public final class DurableStore: Sendable {
    let engine: StoreEngine

    /// Opens a store, and creates its file if it is missing.
    ///
    /// The file can be a database of the program, with other tables. The store's tables have the prefix
    /// `waybill_`. Beside the file there are two files with its name and `-wal` or `-lock` at the end.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - configuration: The limits and the logger.
    /// - Throws: ``DurableError`` with `notADatabase`, `newerSchema`, `inUse`, `readOnly`, `unavailable`,
    ///   `diskFull`, `inputOutput` or `corrupt`.
    public init(_ path: String, configuration: Configuration = Configuration()) async throws(DurableError) {
        self.engine =
            StoreHost.current?.makeEngine(configuration)
            ?? StoreEngine(settings: SharedSettings(configuration), on: StoreEngine.makeEventLoop())
        try await self.engine.open(path)
    }

    deinit {
        let engine = self.engine
        guard engine.closingError == nil else { return }
        Task { await engine.close(drainingFor: .seconds(10)) }
    }

    /// Begins no further attempts, waits for the attempts that are underway, and closes the file.
    ///
    /// The next process handles the messages that have not completed. Later calls of the store fail with
    /// `closed`. A handler of one of the store's messages must not await this method, because the method waits
    /// for that handler, until the limit.
    ///
    /// - Parameter limit: How long to wait for attempts that are underway.
    public func close(drainingFor limit: Duration = .seconds(10)) async {
        await self.engine.close(drainingFor: limit)
    }
}

extension DurableStore {
    /// The limits of a store.
    public struct Configuration: Sendable {
        /// The size of the file in bytes at which sends fail with `sizeLimitReached`; 10 GB by default.
        public var sizeLimit = 10_000_000_000

        /// How long a key makes a repeated send have no effect; one day by default.
        public var keyLifetime = Duration.seconds(86_400)

        /// The duration from which on a transaction of the program is logged as slow; 20 milliseconds by
        /// default.
        ///
        /// Sends wait while a transaction runs.
        public var slowTransaction = Duration.milliseconds(20)

        /// How long a transaction of the program may take; 5 seconds by default.
        ///
        /// A statement that runs at that time is interrupted, and the transaction fails.
        public var transactionLimit = Duration.seconds(5)

        /// The logger for dead letters, slow transactions, and failures of the file.
        public var logger = Logger(label: "waybill.durable")

        /// The pages that the write-ahead log may have before they are copied into the file.
        package var logLimit = 1_000

        /// The file system of SQLite; nil for the file system of the operating system.
        ///
        /// Tests simulate faults with it.
        package var vfs: String?

        /// The setting of SQLite for the synchronization of the disk.
        ///
        /// Tests show that only FULL is safe.
        package var synchronous = "FULL"

        /// Creates a configuration with the defaults.
        public init() {}
    }
}

extension MessageBus {
    /// Begins to deliver the messages of a store, including those of an earlier process.
    ///
    /// Declare the policies of the store before. A store delivers to one bus. The bus retains the store until
    /// it ends, so that the program does not have to.
    ///
    /// - Parameter store: The store.
    /// - Throws: ``DurableError`` with `alreadyAttached` if the store delivers to a bus already, or
    ///   ``/WaybillRouting/RoutingError`` if the pattern of a policy is invalid on the bus.
    public func attach(_ store: DurableStore) async throws {
        try await store.engine.attach(self.unowned, configuration: self.configuration)
        self.attachments.value(of: AttachedStores.self, orSet: AttachedStores()).append(store)
    }
}

/// The stores that a bus retains.
private final class AttachedStores: Sendable {
    private let stores = Locked<[DurableStore]>([])

    /// Adds a store, and releases the stores that were closed in the meantime, with their threads.
    func append(_ store: DurableStore) {
        // The old array is released outside of the lock.
        let old = self.stores.withLock { stores in
            defer { stores = stores.filter { $0.engine.closingError == nil } + [store] }
            return stores
        }
        _ = consume old
    }
}

/// The settings that the callers of a store and its engine share.
final class SharedSettings: Sendable {
    private let settings: Locked<StoreSettings>
    private let attachedBus = Locked<MessageBus?>(nil)

    init(_ configuration: DurableStore.Configuration) {
        self.settings = Locked(StoreSettings(configuration: configuration, policies: DurablePolicies()))
    }

    var value: StoreSettings { self.settings.withLock { $0 } }

    /// The headers that the middlewares of the bus write into each message that the calling task sends.
    ///
    /// A trace continues through them.
    var senderHeaders: [String: String] { self.bus?.senderHeaders ?? [:] }

    /// The bus that handles the messages; nil while no bus is attached.
    ///
    /// Only the engine sets it.
    var bus: MessageBus? {
        get { self.attachedBus.withLock { $0 } }
        set {
            // The old value is released outside of the lock.
            let old = self.attachedBus.withLock { bus in
                defer { bus = newValue }
                return bus
            }
            _ = consume old
        }
    }

    /// Replaces the policies by the result of a closure.
    func updatePolicies(
        _ body: (DurablePolicies) throws(RoutingError) -> DurablePolicies
    ) throws(RoutingError) {
        let result = self.settings.withLock { settings in
            Result { () throws(RoutingError) in
                settings = StoreSettings(
                    configuration: settings.configuration,
                    policies: try body(settings.policies)
                )
            }
        }
        try result.get()
    }
}

/// The settings at one moment.
///
/// Each message reads them, so they are behind one reference.
final class StoreSettings: Sendable {
    let configuration: DurableStore.Configuration
    let policies: DurablePolicies

    init(configuration: DurableStore.Configuration, policies: DurablePolicies) {
        self.configuration = configuration
        self.policies = policies
    }
}
#endif
