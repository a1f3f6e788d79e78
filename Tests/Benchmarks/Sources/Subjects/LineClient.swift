internal import CMeasure

/// A client in C of a server that answers lines over a Unix socket.
///
/// The methods block the calling thread until the answers have arrived.
public final class LineClient: Sendable {
    private static let call =
        "{\"jsonrpc\":\"2.0\",\"id\":12345678,\"method\":\"app://user/detail?uid=7\",\"params\":{}}\n"
    private static let callWithProgress =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"app://user/progress\","
        + "\"params\":{\"$waybill\":{\"progress\":true}}}\n"
    /// The position of the ID's digits.
    private static let idOffset = 22

    private let descriptor: Int32

    /// Connects to a socket.
    ///
    /// - Parameter path: The path of the socket.
    /// - Throws: ``ConnectionFailure`` if no server listens there.
    public init(at path: String) throws {
        // The C function copies the path.
        self.descriptor = unsafe measure_unix_connect(path)
        if self.descriptor < 0 { throw ConnectionFailure() }
    }

    deinit { measure_echo_disconnect(self.descriptor) }

    /// Calls a method of a module that cannot suspend.
    ///
    /// - Returns: The total time of the calls in nanoseconds.
    @discardableResult
    public func calls(_ count: Int, inFlight: Int = 1) throws -> UInt64 {
        // The C function uses the pointers only during the call.
        let time = unsafe measure_line_calls(
            self.descriptor,
            Self.call,
            Self.idOffset,
            UInt64(count),
            UInt64(inFlight)
        )
        if time == 0 { throw ConnectionFailure() }
        return time
    }

    /// Makes calls over many connections, one at a time over each.
    ///
    /// - Returns: The total time of the calls in nanoseconds.
    public static func calls(_ count: Int, over clients: [LineClient]) throws -> UInt64 {
        try self.latencies(count, over: clients).total
    }

    /// Sends requests, and returns the nanoseconds from each request to its response.
    public static func latencies(
        _ count: Int,
        over clients: [LineClient]
    ) throws -> (total: UInt64, each: [UInt64]) {
        var each = [UInt64](repeating: 0, count: count)
        // The array has as many elements as there are calls.
        let total = unsafe measure_parallel_calls(
            clients.map(\.descriptor),
            clients.count,
            Self.call,
            &each,
            UInt64(count)
        )
        if total == 0 { throw ConnectionFailure() }
        return (total, each)
    }

    /// Returns the number of milliseconds from the sending of a progress reply to its arrival.
    public func delayOfProgress() throws -> Double {
        // The C function uses both pointers only during the call.
        let delay = unsafe measure_line_delay(self.descriptor, Self.callWithProgress, "\"value\":")
        if delay == 0 { throw ConnectionFailure() }
        return Double(delay) / 1_000_000
    }

    /// Sends a line, and does not wait for its answer.
    public func send(_ line: String) throws {
        // The C function uses the pointer only during the call.
        if unsafe measure_line_send(self.descriptor, line) != 0 { throw ConnectionFailure() }
    }

    /// Sends calls until the socket is full, and reads no answer.
    public func stuff() throws {
        // The C function uses the pointer only during the call.
        if unsafe measure_stuff(self.descriptor, Self.call) != 0 { throw ConnectionFailure() }
    }
}

/// A connection failed, or an expected event did not happen.
public struct ConnectionFailure: Error {
    /// Creates the error.
    public init() {}
}
