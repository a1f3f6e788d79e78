/// What waits for a deadline.
///
/// Each payload is taken out of the heap once, and then meets exactly one of the three methods.
enum TimerPayload: Sendable {
    case body(@Sendable () -> Void)
    case told(@Sendable (ScheduledTimer.Event) -> Void)
    case sleeper(Sleeper)

    /// A task that waits; boxed, since the compiler does not know how a continuation is laid out, and moving a payload
    /// about would take calls into the runtime.
    final class Sleeper: Sendable {
        private let continuation: CheckedContinuation<Void, any Error>
        private let time: ManualTime?

        init(_ continuation: CheckedContinuation<Void, any Error>, _ time: TimeSource) {
            self.continuation = continuation
            self.time = time.manual
        }

        func wake(_ result: Result<Void, any Error> = .success(())) {
            self.time?.isWaking()
            self.continuation.resume(with: result)
        }
    }

    /// The deadline has come.
    func fire() {
        switch self {
        case .body(let body): body()
        case .told(let body): body(.due)
        case .sleeper(let sleeper): sleeper.wake()
        }
    }

    /// The deadline will not come: the timer was cancelled.
    func cancel() {
        switch self {
        case .body, .told: break
        case .sleeper(let sleeper): sleeper.wake(.failure(CancellationError()))
        }
    }

    /// The deadline will not come: the loop shuts down.
    func abandon(by loop: LoopCore) {
        switch self {
        case .body: break
        case .told(let body): body(.shutDown)
        case .sleeper(let sleeper): sleeper.wake(.failure(EventLoopError.shutDown(loop.name)))
        }
    }
}
