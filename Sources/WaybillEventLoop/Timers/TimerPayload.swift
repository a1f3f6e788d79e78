/// What waits for a deadline.
///
/// The continuation is an unsafe one because its layout is known to the compiler, so that moving a payload about takes no
/// call into the runtime. Each payload is taken out of the heap once, and then meets exactly one of the two methods.
@safe
enum TimerPayload {
    case body(@Sendable () -> Void)
    case sleeper(UnsafeContinuation<Void, any Error>)

    /// The deadline has come.
    func fire() {
        switch self {
        case .body(let body): body()
        case .sleeper(let continuation): unsafe continuation.resume()
        }
    }

    /// The deadline will not come: the timer was cancelled, or the loop shuts down.
    func fail(with error: @autoclosure () -> any Error) {
        switch self {
        case .body: break
        case .sleeper(let continuation): unsafe continuation.resume(throwing: error())
        }
    }
}
