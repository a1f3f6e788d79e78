import CMeasure
import Measure
import Subjects

/// redis-server, asked through hiredis over as many connections at a time as there are, without pipelining.
@safe
final class RedisServer: Sendable {
    // One figure at a time uses the server, and it is freed with this object.
    private nonisolated(unsafe) let server: OpaquePointer

    /// Starts a server; nil where redis-server or hiredis is missing.
    init?(at path: String, connections: Int) {
        // The path is copied.
        guard let server = unsafe measure_redis_start(path, connections) else { return nil }
        unsafe self.server = server
    }

    deinit { unsafe measure_redis_stop(self.server) }

    /// A PING over each connection, and then all replies.
    var pings: Subject {
        Subject("redis-server PING, 64 clients of hiredis") { count in
            let time = unsafe measure_redis_pings(self.server, UInt64(count))
            if time == 0 { throw ConnectionFailure() }
            return time
        }
    }
}
