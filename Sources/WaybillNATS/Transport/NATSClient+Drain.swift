#if NATS
internal import CNATS
internal import WaybillEventLoop

/// The ended subscriptions and the flushes of a client, in their order.
///
/// A subscription is drained: it is freed after the server has confirmed its end and its last messages have
/// been delivered. libnats starts a thread for each drain. The queue therefore limits the number of drains at
/// the same time. One thread performs the steps of the queue, and is the only one that frees an ended
/// subscription. The thread ends when the queue is empty.
struct NATSDrainQueue: Sendable {
    enum Step: Sendable {
        /// An ended subscription, by its address, which no other code has.
        case free(_ subscription: UInt, of: String, isDraining: Bool)
        case flush(then: @Sendable () -> Void)
    }

    private var steps: [Step] = []
    /// The number of subscriptions that are not freed.
    private var count = 0
    private var hasThread = false

    /// The time limit for the server's response to the drains of a group, or to a flush.
    static let patience = Duration.seconds(2)
    /// The maximum number of drains at the same time.
    static let groupSize = 128

    /// Whether the drain of one more subscription may start now.
    var hasRoom: Bool { self.count < Self.groupSize }

    /// Appends a step, and returns whether the caller must start a thread that performs the steps.
    mutating func append(_ step: Step) -> Bool {
        self.steps.append(step)
        if case .free = step { self.count += 1 }
        defer { self.hasThread = true }
        return !self.hasThread
    }

    /// Removes the subscription of a subject, and returns its address, if its drain has not started.
    mutating func takeBack(_ subject: String) -> UInt? {
        for (index, step) in self.steps.enumerated() {
            guard case .free(let subscription, of: subject, isDraining: false) = step else { continue }
            self.steps.remove(at: index)
            self.count -= 1
            return subscription
        }
        return nil
    }

    /// Removes the next steps, which are one flush or several subscriptions.
    ///
    /// - Parameter freed: The number of subscriptions that the thread has freed since the last call.
    /// - Returns: The steps. If there are none, the thread must end.
    mutating func takeGroup(freed: Int) -> [Step] {
        self.count -= freed
        var group = self.steps.prefix { if case .free = $0 { true } else { false } }.prefix(Self.groupSize)
        if group.isEmpty { group = self.steps.prefix(1) }
        defer { self.steps.removeFirst(group.count) }
        if group.isEmpty { self.hasThread = false }
        return Array(group)
    }
}

extension NATSClient {
    /// Frees an ended subscription after its last messages have been delivered.
    ///
    /// If only few subscriptions wait, the server is told at once.
    func drain(_ subscription: OpaquePointer, of subject: String) {
        // Only this thread appends subscriptions, so the queue still has room when the step is appended.
        let isDraining = self.drainQueue.withLock { $0.hasRoom }
        let address = UInt(bitPattern: subscription)
        if isDraining { self.startDrain(address, until: .now + NATSDrainQueue.patience) }
        self.append(.free(address, of: subject, isDraining: isDraining))
    }

    /// Waits until the server has processed the sent bytes, and the last messages of ended subscriptions are
    /// delivered.
    ///
    /// Another thread waits, and then calls the closure. If the server does not answer in time, or without a
    /// server, the wait ends.
    func flush(then body: @escaping @Sendable () -> Void) { self.append(.flush(then: body)) }

    private func append(_ step: NATSDrainQueue.Step) {
        guard self.drainQueue.withLock({ $0.append(step) }) else { return }
        LoopThread.start(name: "nats-flush") {
            var freed = 0
            // If the server was too slow once, the other steps do not wait for it.
            var patience = NATSDrainQueue.patience
            while true {
                let group = self.drainQueue.withLock { $0.takeGroup(freed: freed) }
                if group.isEmpty { return }
                let limit = ContinuousClock.now + patience
                freed = self.perform(group, until: limit)
                if ContinuousClock.now >= limit { patience = .zero }
            }
        }
    }

    /// Performs steps together, and returns the number of freed subscriptions.
    private func perform(_ group: [NATSDrainQueue.Step], until limit: ContinuousClock.Instant) -> Int {
        for case .free(let address, of: _, isDraining: false) in group {
            self.startDrain(address, until: limit)
        }
        var freed = 0
        for step in group {
            let left = self.timeLeft(until: limit)
            switch step {
            case .free(let address, of: _, isDraining: _):
                // No other code has the address, so no other code frees the subscription.
                let subscription = unsafe OpaquePointer(bitPattern: address)
                if left > 0 { _ = unsafe natsSubscription_WaitForDrainCompletion(subscription, left) }
                // If the drain has not ended, this call ends the subscription without its last messages.
                unsafe natsSubscription_Destroy(subscription)
                freed += 1
            case .flush(let body):
                if left > 0 { _ = unsafe natsConnection_FlushTimeout(self.connection, left) }
                body()
            }
        }
        return freed
    }

    /// Starts the drain of an ended subscription, on a thread of libnats, which ends at the limit.
    private func startDrain(_ address: UInt, until limit: ContinuousClock.Instant) {
        let left = self.timeLeft(until: limit)
        // No other code has the address, so the subscription is not freed during this call.
        if left > 0 { _ = unsafe natsSubscription_DrainTimeout(OpaquePointer(bitPattern: address), left) }
    }

    /// The number of milliseconds until a limit; zero without a server.
    private func timeLeft(until limit: ContinuousClock.Instant) -> Int64 {
        self.isConnected ? max(0, Int64((limit - .now) / .milliseconds(1))) : 0
    }
}
#endif
