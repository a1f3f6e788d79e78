package import WaybillRouting

/// Waits until something is so, for as long as a slow machine may need; false if it never is.
package func eventually(_ condition: () async throws -> Bool) async rethrows -> Bool {
    for _ in 0..<10_000 {
        if try await condition() { return true }
        try? await Task.sleep(for: .milliseconds(1))
    }
    return try await condition()
}

/// Returns the delay of a task that only waits for an instant, which other load on the machine causes.
package func lateness(after instant: ContinuousClock.Instant) async -> Duration {
    await Task.detached {
        try? await Task.sleep(until: instant)
        return instant.duration(to: .now)
    }.value
}

/// The error of the bus that something throws, or nil if it throws none.
package func failure<Value>(_ body: () async throws -> Value) async -> RoutingError? {
    do {
        _ = try await body()
    } catch {
        return error as? RoutingError
    }
    return nil
}

/// Waits until the task is cancelled.
///
/// A sleep that is cancelled stays in the runtime's list of timers until its time has come, which looks like a leak.
package func hang() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
    continuation.finish()
    throw CancellationError()
}
