import CMeasure
import Foundation
import Measure
import Subjects

/// A server that keeps messages on disk, and that synchronizes the disk before it acknowledges a message.
///
/// The data of the server is on the disk of the store, and its socket is in a temporary folder.
@safe
final class QueueServer: Sendable {
    /// A server that Debian has as a package.
    enum Kind: CaseIterable, Sendable {
        case redis, beanstalkd, postgres

        /// The names of the figures with this server.
        var figures: [String] {
            ["durable.send-\(self)", "durable.handle-256-\(self)"]
                + (self == .postgres ? ["durable.handle-256-postgres-batch"] : [])
        }

        /// The condition under which the server can be measured.
        var requirement: String {
            switch self {
            case .redis: "redis-server did not start; install redis-server"
            case .beanstalkd: "beanstalkd did not start; install beanstalkd"
            case .postgres:
                "PostgreSQL did not start; install postgresql and libpq5, and let its user read this folder"
            }
        }
    }

    private let kind: Kind
    private let folder: StoreFolder
    private let sockets: TemporaryFolder
    // Only one figure at a time uses the server, which is freed with this object.
    private nonisolated(unsafe) let queue: OpaquePointer

    /// Starts a server with its data in a folder.
    ///
    /// Returns nil if the server or its client library is missing.
    init?(_ kind: Kind, in folder: StoreFolder) throws {
        self.kind = kind
        self.folder = folder
        self.sockets = try TemporaryFolder()
        let data = folder.path("server")
        for path in [data, self.sockets.path("postgres")] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        // The C functions copy the paths.
        let queue =
            switch kind {
            case .redis: unsafe measure_redis_queue_start(data, self.sockets.path("redis"))
            case .beanstalkd: unsafe measure_beanstalkd_start(data, self.sockets.path("beanstalkd"))
            case .postgres: unsafe measure_postgres_start(data, self.sockets.path("postgres"))
            }
        guard let queue = unsafe queue else { return nil }
        unsafe self.queue = queue
    }

    deinit { unsafe measure_queue_stop(self.queue) }

    /// Messages that are sent one after the other.
    var sends: Subject {
        Subject("\(self.kind), one at a time", iterations: 200) { count in
            try self.checked(unsafe measure_queue_sends(self.queue, UInt64(count)))
        }
    }

    /// Messages that are sent, received and completed, with 256 in flight.
    var handling: Subject {
        // A server that synchronizes the disk for each message takes longer.
        let iterations = self.kind == .redis ? 30_000 : 2_048
        return Subject("\(self.kind), 256 in flight", iterations: iterations) { count in
            try self.checked(unsafe measure_queue_handle(self.queue, UInt64(count), 256))
        }
    }

    /// Messages that are sent, received and completed by statements for 256 messages.
    var batchHandling: Subject {
        Subject("\(self.kind), 256 in each statement", iterations: 30_000) { count in
            try self.checked(unsafe measure_queue_handle_batches(self.queue, UInt64(count), 256))
        }
    }

    private func checked(_ time: UInt64) throws -> UInt64 {
        if time == 0 { throw ConnectionFailure() }
        return time
    }
}
