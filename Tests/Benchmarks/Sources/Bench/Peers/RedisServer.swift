import CMeasure
import Measure
import Subjects

/// A redis-server that is called through hiredis, over as many connections as there are concurrent calls,
/// without pipelining.
@safe
final class RedisServer: Sendable {
    // Only one figure at a time uses the server, which is freed with this object.
    private nonisolated(unsafe) let server: OpaquePointer

    /// Starts a server.
    ///
    /// Returns nil if redis-server or hiredis is missing.
    init?(at path: String, connections: Int) {
        // The C function copies the path.
        guard let server = unsafe measure_redis_start(path, connections) else { return nil }
        unsafe self.server = server
    }

    deinit { unsafe measure_redis_stop(self.server) }

    /// Sends a PING over each connection, and then reads all replies.
    var pings: Subject {
        Subject("redis-server PING, 64 clients of hiredis") { count in
            let time = unsafe measure_redis_pings(self.server, UInt64(count))
            if time == 0 { throw ConnectionFailure() }
            return time
        }
    }
}
