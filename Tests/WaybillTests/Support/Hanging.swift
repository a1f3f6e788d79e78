/// Waits until the task is cancelled.
///
/// A sleep that is cancelled stays in the runtime's list of timers until its time has come, which looks like a leak.
func hang() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
    continuation.finish()
    throw CancellationError()
}
