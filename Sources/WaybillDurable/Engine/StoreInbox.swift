#if Durable
internal import WaybillEventLoop

/// Work for the next transaction of the file: a send, a transaction of the program, or the outcome of an
/// attempt.
struct StoreWork: Sendable {
    /// Reports the result to the caller of the work, after the transaction has been committed.
    typealias Completion = () -> Void

    /// Whether the work is tried again when the disk is full; otherwise, the caller receives the failure.
    var mustSucceed = false
    /// Performs the work in a batch, on the thread of the engine.
    let perform: @Sendable (Batch) -> Completion
    /// Reports the failure of the whole batch to the caller of the work.
    let reject: @Sendable (DurableError) -> Void
}

/// The work that has arrived since the last batch.
final class StoreInbox: Sendable {
    private struct State {
        var works: [StoreWork] = []
        /// Whether the engine has been scheduled to take the work.
        var isScheduled = false
        /// The reason why the store accepts no work; nil while the store accepts work.
        var error: DurableError?
    }

    private let state = Locked(State())

    /// The reason why the store accepts no work; nil while the store accepts work.
    var closingError: DurableError? { self.state.withLock { $0.error } }

    /// Whether work waits that is tried again when the disk is full.
    var hasOutcomes: Bool { self.state.withLock { $0.works.contains(where: \.mustSucceed) } }

    /// Adds work, and returns whether the caller must schedule a batch.
    func add(_ work: StoreWork) throws(DurableError) -> Bool {
        try self.state.withLock { state throws(DurableError) in
            if let error = state.error { throw error }
            state.works.append(work)
            return !Swift.exchange(&state.isScheduled, with: true)
        }
    }

    func takeAll() -> [StoreWork] {
        self.state.withLock { state in
            state.isScheduled = false
            return Swift.exchange(&state.works, with: [])
        }
    }

    /// Puts work that could not be written before the work that has arrived in the meantime.
    func putBack(_ works: [StoreWork]) {
        self.state.withLock { $0.works = works + $0.works }
    }

    /// Rejects all further work, and returns the work that the engine has not taken.
    func close(with error: DurableError) -> [StoreWork] {
        self.state.withLock { state in
            if state.error == nil { state.error = error }
            return Swift.exchange(&state.works, with: [])
        }
    }
}
#endif
