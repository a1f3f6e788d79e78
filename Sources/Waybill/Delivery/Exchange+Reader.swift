public import WaybillEventLoop
internal import WaybillRouting

// What the caller gets: progress replies, and the end.
extension Exchange {
    /// What comes next from the handler: a progress reply, or the end.
    ///
    /// A caller that is cancelled while it waits ends the exchange.
    nonisolated(nonsending) func next() async -> Event {
        // Most handlers have ended before the outcome is asked for.
        if let outcome = self.takeOutcome() { return .finished(outcome) }
        let reader = Reader(on: .current)
        self.read(reader)
        // The exchange lives in this frame, and the task only waits in between.
        let observer = unsafe CurrentTask.addCancellationObserver(self)
        await reader.wait()
        unsafe CurrentTask.removeCancellationObserver(observer)
        return reader.takeEvent()
    }

    /// Resumes a reader with the next event, as soon as there is one.
    func read(_ reader: Reader) {
        let event = self.state.withLock { state in
            state.isRead ? .finished(.failed(.cancelled(url: self.url))) : state.read(reader)
        }
        if let event { reader.resume(returning: event) }
    }

    /// Lets a listener answer the progress replies, where the caller is isolated, until the exchange is over.
    ///
    /// - Returns: how it ended; a failure of the listener that was not thrown to the handler, if the handler
    ///   replied all the same.
    nonisolated(nonsending) func listen(_ listener: Listener) async -> Outcome {
        var untold: RoutingError?
        while true {
            switch await self.next() {
            case .finished(let outcome):
                if let untold, case .replied = outcome { return .failed(untold) }
                return outcome
            case .progress(let progress):
                do {
                    // The handler continues when the listener does: what the listener sends belongs to the
                    // handler's message.
                    let answer = try await DeliveryContext.with(progress.context, isolation: #isolation) {
                        try await listener(progress.value)
                    }
                    self.answer(.success(answer))
                } catch {
                    if !(error is NotListening) {
                        let failure = RoutingError.progressRefused(error, url: self.url)
                        self.core.log(self.url, failure, as: "progress reply not taken")
                        if !progress.expectsAnswer { untold = untold ?? failure }
                    }
                    self.answer(.failure(error))
                }
            }
        }
    }

    /// A caller that waits for the next event: an actor that is its own executor, and keeps the rest of the
    /// caller's task.
    ///
    /// A `LoopContinuation` does the same for any value, and its type would be looked up for each caller.
    actor Reader: SerialExecutor {
        private nonisolated let job: SuspendedJob
        /// Written before the task is resumed, and taken by the task.
        @exclusivity(unchecked)
        nonisolated(unsafe) private var event: Event?
        /// What is released with the reader, on the thread of the caller, which has made it: memory that another
        /// thread gives back is locked for both.
        @exclusivity(unchecked)
        nonisolated(unsafe) private var waiting: Waiting?

        /// Makes room for a caller.
        ///
        /// - Parameter loop: the loop that the caller is on; nil if it is on none.
        init(on loop: EventLoop?) { self.job = SuspendedJob(on: loop) }

        /// Suspends the calling task until there is an event.
        @inline(never)  // or the change of executor, which is all that this is for, might be optimized away
        func wait() { self.job.checkResumption() }

        /// Resumes the task; must be called once.
        nonisolated func resume(returning event: consuming Event, releasing waiting: Waiting? = nil) {
            unsafe self.event = event
            unsafe self.waiting = waiting
            self.job.resume(.onLoop)
        }

        /// Takes the event; for the task, when it is resumed.
        nonisolated func takeEvent() -> Event {
            guard let event = unsafe self.event.take() else { preconditionFailure("an event is read once") }
            return event
        }

        /// Takes the rest of the waiting task; the runtime calls this.
        nonisolated func enqueue(_ job: consuming ExecutorJob) { self.job.enqueue(job) }

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe UnownedSerialExecutor(ordinary: self)
        }
    }
}

extension Exchange: CancellationObserver {
    /// The caller is cancelled while it waits.
    @usableFromInline
    func taskIsCancelled() { self.cancel() }
}
