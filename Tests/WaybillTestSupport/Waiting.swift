package import WaybillRouting

/// Waits until a condition holds, for as long as a slow machine may need.
///
/// Returns false if it never holds.
package func eventually(_ condition: () async throws -> Bool) async rethrows -> Bool {
    for _ in 0..<10_000 {
        if try await condition() { return true }
        try? await Task.sleep(for: .milliseconds(1))
    }
    return try await condition()
}

/// Returns how late a task resumes that only waits for an instant.
///
/// Other load on the machine causes the delay.
package func lateness(after instant: ContinuousClock.Instant) async -> Duration {
    await Task.detached {
        try? await Task.sleep(until: instant)
        return instant.duration(to: .now)
    }.value
}

/// Returns the error of the bus that a closure throws, or nil if it throws none.
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
/// A cancelled sleep stays in the runtime's list of timers until its time has passed, which looks like a
/// leak.
package func hang() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
    continuation.finish()
    throw CancellationError()
}
