internal import CMeasure

/// A connection to a server that answers lines over a Unix socket, made and used in C.
///
/// Its methods hold the calling thread until the answers are there.
public final class LineClient: Sendable {
    private static let call =
        "{\"jsonrpc\":\"2.0\",\"id\":12345678,\"method\":\"app://user/detail?uid=7\",\"params\":{}}\n"
    private static let callWithProgress =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"app://user/progress\","
        + "\"params\":{\"$waybill\":{\"progress\":true}}}\n"
    /// Where the digits of the ID begin.
    private static let idOffset = 22

    private let descriptor: Int32

    /// Connects.
    ///
    /// - Parameter path: the socket.
    /// - Throws: ``ConnectionFailure``, if nothing listens there.
    public init(at path: String) throws {
        // The path is copied.
        self.descriptor = unsafe measure_unix_connect(path)
        if self.descriptor < 0 { throw ConnectionFailure() }
    }

    deinit { measure_echo_disconnect(self.descriptor) }

    /// Calls a method of a module that cannot suspend.
    ///
    /// - Returns: how many nanoseconds the calls took together.
    @discardableResult
    public func calls(_ count: Int, inFlight: Int = 1) throws -> UInt64 {
        // All are read in the call only.
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

    /// Makes calls over many connections at a time, one over each.
    ///
    /// - Returns: how many nanoseconds they took together.
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

    /// How many milliseconds after a handler has sent a progress reply it is here.
    public func delayOfProgress() throws -> Double {
        // Both are read in the call only.
        let delay = unsafe measure_line_delay(self.descriptor, Self.callWithProgress, "\"value\":")
        if delay == 0 { throw ConnectionFailure() }
        return Double(delay) / 1_000_000
    }

    /// Sends a line whose answer is not awaited.
    public func send(_ line: String) throws {
        // The line is read in the call only.
        if unsafe measure_line_send(self.descriptor, line) != 0 { throw ConnectionFailure() }
    }

    /// Sends calls until the socket takes no more, and reads no answer.
    public func stuff() throws {
        // The line is read in the call only.
        if unsafe measure_stuff(self.descriptor, Self.call) != 0 { throw ConnectionFailure() }
    }
}

/// A connection failed, or an expected event did not happen.
public struct ConnectionFailure: Error {
    /// Makes the error.
    public init() {}
}
