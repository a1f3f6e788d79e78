#if Durable
public import Logging
public import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// A file that stores messages until they have been handled, even if the process ends before that.
///
/// ```swift
/// let store = try await DurableStore("shop.db")
/// try await bus.attach(store)
/// try await store.send("app://mail/receipt?order=7")
/// ```
///
/// The file is an SQLite database, which only one store at a time can open. A handler may be called more than
/// once for a message; <doc:DurableMessages> describes when, and how its effects happen once.
///
/// All methods can be called from any isolation. They wait without blocking a thread, because the store has
/// its own thread for the file.
public final class DurableStore: Sendable {
    let engine: StoreEngine

    /// Opens a store, and creates the file if it does not exist.
    ///
    /// The file can be a database of the program with other tables. The names of the store's tables begin
    /// with `waybill_`. The store creates two more files, with `-wal` and `-lock` at the end of their names.
    ///
    /// - Throws: ``DurableError`` with `notADatabase`, `newerSchema`, `inUse`, `readOnly`, `unavailable`,
    ///   `diskFull`, `inputOutput` or `corrupt`.
    public init(_ path: String, configuration: Configuration = Configuration()) async throws(DurableError) {
        self.engine = StoreHost.makeEngine(configuration) ?? StoreEngine(configuration)
        try await self.engine.open(path)
    }

    deinit {
        let engine = self.engine
        guard engine.closingError == nil else { return }
        Task { await engine.close(drainingFor: .seconds(10)) }
    }

    /// Stops new attempts, waits for the attempts that are underway, and closes the file.
    ///
    /// If the disk is full, the method also waits until the results of ended attempts have been written.
    /// Later calls of the store fail with `closed`. A handler of a durable message must not await this
    /// method, because the method waits for the handler, for at most the limit.
    public func close(drainingFor limit: Duration = .seconds(10)) async {
        await self.engine.close(drainingFor: limit)
    }

    /// Returns whether a file belongs to a store, without making it the file of a store.
    ///
    /// - Throws: `notADatabase`, or another failure of the file.
    package static func isStore(_ path: String) throws(DurableError) -> Bool {
        // A store that a process uses, or has not closed, has a lock file. Only a store may open it, because
        // another connection would copy its write-ahead log.
        if StoreLock.hasFile(besides: path) { return true }
        return try Database(path, vfs: nil).hasTables()
    }

    /// The limits of a store.
    public struct Configuration: Sendable {
        /// The size of the file in bytes at which sends fail with `sizeLimitReached`; 10 GB by default.
        public var sizeLimit = 10_000_000_000
        /// How long a second send with the same key stores nothing; one day by default.
        public var keyLifetime = Duration.seconds(86_400)
        /// The duration above which a transaction is logged, because sends wait; 20 milliseconds by default.
        public var slowTransaction = Duration.milliseconds(20)
        /// How long a transaction of the program may take before it fails; 5 seconds by default.
        public var transactionLimit = Duration.seconds(5)
        /// The logger for dead letters, slow transactions, and failures of the file.
        public var logger = Logger(label: "waybill.durable")
        /// The number of pages that the write-ahead log may have before the store copies them into the file.
        package var logLimit = 1_000
        /// The name of a file system for SQLite; nil for the file system of the operating system.
        package var vfs: String?
        /// The value of the SQLite setting `synchronous`; tests show that only FULL is safe.
        package var synchronous = "FULL"

        /// Creates a configuration with the default values.
        public init() {}
    }
}

extension MessageBus {
    /// Begins to deliver the messages of a store to this bus, including the messages of an earlier process.
    ///
    /// Set the policies of the store before this call. The bus retains the store.
    ///
    /// - Throws: ``DurableError`` with `alreadyAttached` if the store already delivers to a bus, or
    ///   ``/WaybillRouting/RoutingError`` if the pattern of a policy is invalid on the bus.
    public func attach(_ store: DurableStore) async throws {
        try await store.engine.attach(self.unowned, configuration: self.configuration)
        self.attachments.value(of: AttachedStores.self, orSet: AttachedStores()).append(store)
    }
}

/// The stores that a bus retains.
private final class AttachedStores: Sendable {
    private let stores = Locked<[DurableStore]>([])

    /// Adds a store, and releases the stores that have been closed, together with their threads.
    func append(_ store: DurableStore) {
        _ = self.stores.withLock { stores in
            Swift.exchange(&stores, with: stores.filter { $0.engine.closingError == nil } + [store])
        }
    }
}

/// The settings of a store at one moment, as an object, so that each message copies only a reference.
final class StoreSettings: Sendable {
    let configuration: DurableStore.Configuration
    let policies: DurablePolicies
    /// The bus that handles the messages; nil while no bus is attached.
    let bus: MessageBus?

    init(
        _ configuration: DurableStore.Configuration,
        policies: DurablePolicies = DurablePolicies(),
        bus: MessageBus? = nil
    ) {
        self.configuration = configuration
        self.policies = policies
        self.bus = bus
    }

    /// The headers that the bus adds to messages of the calling task, so that the task's trace continues.
    var senderHeaders: [String: String] { self.bus?.senderHeaders ?? [:] }
}
#endif
