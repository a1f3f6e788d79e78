public import Waybill
internal import WaybillEventLoop

/// Stands for a module's handler in a test, and remembers what it was asked.
public final class Stub: Sendable {
    /// The pattern that it is registered for.
    public let pattern: String

    private struct State {
        var messages: [Message] = []
        var registration: Registration?
        var waiters: [(count: Int, waiter: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    init(_ pattern: String) { self.pattern = pattern }

    /// The messages that it was given, in their order.
    public var messages: [Message] { self.state.withLock { $0.messages } }

    /// How many messages it was given.
    public var callCount: Int { self.state.withLock { $0.messages.count } }

    /// Waits until it has been called, for as long as that takes.
    ///
    /// - Parameter count: How many times.
    public func called(_ count: Int = 1) async {
        await withCheckedContinuation { waiter in
            let isOver = self.state.withLock { state in
                if state.messages.count < count { state.waiters.append((count, waiter)) }
                return state.messages.count >= count
            }
            if isOver { waiter.resume() }
        }
    }

    /// Unregisters it.
    public func cancel() { self.state.withLock { $0.registration }?.cancel() }

    func bind(_ registration: Registration) { self.state.withLock { $0.registration = registration } }

    /// Notes a message.
    ///
    /// - Returns: How many there were before it.
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
