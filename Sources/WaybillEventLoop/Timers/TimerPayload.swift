/// What waits for a deadline.
///
/// Each payload is taken out of the heap once, and then meets exactly one of the three methods.
enum TimerPayload: Sendable {
    case body(@Sendable () -> Void)
    case told(@Sendable (ScheduledTimer.Event) -> Void)
    case sleeper(Sleeper)

    /// A task that waits.
    final class Sleeper: Sendable {
        let pause: Pause<Result<Void, any Error>>
        private let time: ManualTime?

        init(on loop: EventLoop?, _ time: TimeSource) {
            self.pause = Pause(on: loop)
            self.time = time.manual
        }

        func wake(_ result: Result<Void, any Error> = .success(())) {
            self.time?.isWaking()
            self.pause.resume(returning: result)
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
