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
        var waiters: [Int: (count: Int, waiter: CheckedContinuation<Void, Never>)] = [:]
        var lastWaiter = 0
    }

    private let state = Locked(State())

    init(_ pattern: String) { self.pattern = pattern }

    /// The messages that the stub has received, in the order of arrival.
    public var messages: [Message] { self.state.withLock { $0.messages } }

    /// The number of messages that the stub has received.
    public var callCount: Int { self.state.withLock { $0.messages.count } }

    /// Waits until the stub has been called, or the task is cancelled, without a time limit.
    ///
    /// - Parameter count: The number of calls to wait for.
    public func called(_ count: Int = 1) async {
        let number = self.state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let waits = self.state.withLock { state in
                    // A task that is cancelled before this point must not wait.
                    guard state.messages.count < count, !Task.isCancelled else { return false }
                    state.waiters[number] = (count, waiter)
                    return true
                }
                if !waits { waiter.resume() }
            }
        } onCancel: {
            self.state.withLock { $0.waiters.removeValue(forKey: number) }?.waiter.resume()
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
            // A simulation resumes the tasks in the same order each time.
            let ready = state.waiters.filter { $0.value.count <= count }.sorted { $0.key < $1.key }
            for (number, _) in ready { state.waiters[number] = nil }
            return (count - 1, ready.map(\.value.waiter))
        }
        for waiter in waiters { waiter.resume() }
        return place
    }
}
