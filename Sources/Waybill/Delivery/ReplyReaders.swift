internal import Synchronization
internal import WaybillEventLoop

/// The tasks that are in the body of a loop over the replies to a message.
///
/// The handler of that message waits until the loop comes back for the next reply. The body is code of the caller, which no
/// task-local value can reach, so the context of the handler is found by the task.
enum ReplyReaders {
    /// One loop over replies.
    struct Entry {
        let context: DeliveryContext
        let exchange: Exchange
    }

    // Most programs never read replies in a loop: then this is all that a route looks at.
    private static let count = Atomic<Int>(0)
    private static let entries = Locked<[UInt: [Entry]]>([:])

    /// Notes that the calling task has a reply of an exchange, and that the handler waits for the next step.
    ///
    /// - Returns: the task, to ``remove(_:from:)`` it.
    static func add(_ context: DeliveryContext, of exchange: Exchange) -> UInt {
        let task = CurrentTask.id
        self.entries.withLock {
            $0[task, default: []].append(Entry(context: context.adopted(), exchange: exchange))
        }
        self.count.add(1, ordering: .relaxed)
        return task
    }

    /// Notes that the reader has come back for the next reply, or does not come back.
    static func remove(_ exchange: Exchange, from task: UInt) {
        self.entries.withLock { entries in
            entries[task]?.removeAll { $0.exchange === exchange }
            if entries[task]?.isEmpty == true { entries[task] = nil }
        }
        self.count.subtract(1, ordering: .relaxed)
    }

    /// The context of the innermost reply that the calling task has, if that is inside of another context.
    @inline(__always)
    static func context(inside outer: DeliveryContext?) -> DeliveryContext? {
        guard self.count.load(ordering: .relaxed) > 0 else { return nil }
        return self.find(inside: outer)
    }

    @inline(never)
    private static func find(inside outer: DeliveryContext?) -> DeliveryContext? {
        let entries = self.entries.withLock { $0[CurrentTask.id] ?? [] }
        let last = entries.last { !$0.exchange.isOver }?.context
        // A handler that the body's task has come to since has a context of its own, which is the inner one.
        guard let outer else { return last }
        return last.flatMap { $0.isInside(outer) ? $0 : nil }
    }
}
