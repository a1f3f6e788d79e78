public import Waybill
internal import WaybillEventLoop

/// A replacement for a module's handler in a test.
///
/// The stub records the messages that it receives.
public final class Stub: Sendable {
    /// The pattern that the stub is registered for.
    public let pattern: String

    private struct State {
        var messages: [Message] = []
        var registration: Registration?
        var waiters: [(count: Int, waiter: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    init(_ pattern: String) { self.pattern = pattern }

    /// The messages that the stub has received, in the order of arrival.
    public var messages: [Message] { self.state.withLock { $0.messages } }

    /// The number of messages that the stub has received.
    public var callCount: Int { self.state.withLock { $0.messages.count } }

    /// Waits until the stub has been called, without a time limit.
    ///
    /// - Parameter count: The number of calls to wait for.
    public func called(_ count: Int = 1) async {
        await withCheckedContinuation { waiter in
            let isOver = self.state.withLock { state in
                if state.messages.count < count { state.waiters.append((count, waiter)) }
                return state.messages.count >= count
            }
            if isOver { waiter.resume() }
        }
    }

    /// Unregisters the stub.
    public func cancel() { self.state.withLock { $0.registration }?.cancel() }

    func bind(_ registration: Registration) { self.state.withLock { $0.registration = registration } }

    /// Records a message, resumes the tasks that wait for it, and returns the number of earlier messages.
    func note(_ message: Message) -> Int {
        let (place, waiters) = self.state.withLock { state in
            state.messages.append(message)
            let count = state.messages.count
            let waiters = state.waiters.filter { $0.count <= count }.map(\.waiter)
            state.waiters.removeAll { $0.count <= count }
            return (count - 1, waiters)
        }
        for waiter in waiters { waiter.resume() }
        return place
    }
}
