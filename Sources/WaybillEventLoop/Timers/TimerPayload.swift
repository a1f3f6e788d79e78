/// What waits for a deadline.
enum TimerPayload {
    case body(@Sendable () -> Void)
    case sleeper(CheckedContinuation<Void, any Error>)

    /// The deadline has come.
    func fire() {
        switch self {
        case .body(let body): body()
        case .sleeper(let continuation): continuation.resume()
        }
    }

    /// The deadline will not come: the timer was cancelled, or the loop shuts down.
    func fail(with error: any Error) {
        switch self {
        case .body: break
        case .sleeper(let continuation): continuation.resume(throwing: error)
        }
    }
}
