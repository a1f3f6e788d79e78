#if Tool
internal import WaybillEventLoop
internal import WaybillRouting
internal import WaybillServe

/// Repeated calls of one URL, with a fixed number of calls in flight.
struct BenchLoad {
    let url: String
    let options: RPCRequestOptions
    let inFlight: Int

    /// The state of all calling tasks, which run on the client's loop.
    private final class Progress {
        var left: Int
        var report: BenchReport
        init(_ count: Int, inFlight: Int) {
            self.left = count
            self.report = BenchReport(inFlight: inFlight)
        }
    }

    /// Makes calls on the client's loop, so that the measured times do not include a change of thread.
    func run(_ count: Int, on client: isolated RPCClient) async throws -> BenchReport {
        let progress = Progress(count, inFlight: self.inFlight)
        let clock = ContinuousClock()
        let start = clock.now
        let callers = (0..<min(self.inFlight, count)).map { _ in
            Task {
                // A task runs on the actor of an isolated parameter only if its closure captures the
                // parameter.
                _ = client
                while progress.left > 0 {
                    progress.left -= 1
                    let sent = clock.now
                    do {
                        _ = try await client.request(self.url, self.options)
                        progress.report.note(sent.duration(to: clock.now))
                    } catch let error as RPCRequestError {
                        progress.report.noteFailure(error)
                        if error.code == .unreachable { progress.left = 0 }
                    }
                }
            }
        }
        for caller in callers { try await caller.value }
        progress.report.duration = start.duration(to: clock.now)
        return progress.report
    }
}
#endif
