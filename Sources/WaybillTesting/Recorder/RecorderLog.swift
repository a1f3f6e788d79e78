internal import Waybill
internal import WaybillEventLoop

/// The messages that a recorder has recorded, and the tasks that wait for more.
final class RecorderLog: Sendable {
    private struct State {
        var messages: [RecordedMessage] = []
        /// The place of each message in `messages`; nil for a message that `clear` has removed.
        var places: [CorrelationID: Int?] = [:]
        var waiters: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastWaiter = 0

        mutating func add(_ message: RecordedMessage) {
            self.places[message.id] = self.messages.count
            self.messages.append(message)
        }
    }

    private let state = Locked(State())

    var messages: [RecordedMessage] { self.state.withLock { $0.messages } }

    func add(_ event: MessageTrace.Event) {
        self.change { state in
            let known = state.places[event.message.id]
            let place = known ?? nil
            switch event.kind {
            case .message where known == nil:
                state.add(
                    RecordedMessage(
                        id: event.message.id,
                        url: event.message.parameters.url,
                        pattern: event.pattern,
                        message: event.message
                    )
                )
            case .message, .answer: break
            case .progress(let value): if let place { state.messages[place].progress.append(value) }
            case .reply(let value): if let place { state.messages[place].outcome = .replied(value) }
            case .failure(let error): if let place { state.messages[place].outcome = .failed(error) }
            }
        }
    }

    /// Records a dead letter: a message that reached no handler, or that failed and no caller awaited.
    ///
    /// If the recorder has already recorded the message's failure, the dead letter changes nothing.
    func add(_ letter: DeadLetter) {
        self.change { state in
            if let known = state.places[letter.id] {
                guard let place = known, !state.messages[place].hasEnded else { return }
                state.messages[place].outcome = .failed(letter.error)
                return
            }
            var message = RecordedMessage(
                id: letter.id,
                url: letter.url,
                pattern: letter.pattern,
                message: letter.message
            )
            message.outcome = .failed(letter.error)
            state.add(message)
        }
    }

    func clear() {
        _ = self.state.withLock { state in
            // A removed message may end later, and its dead letter must not count as a new message.
            state.places = state.places.mapValues { _ in nil }
            return Swift.exchange(&state.messages, with: [])
        }
    }

    /// Returns the first result that a closure finds in the messages; nil when a time limit has passed.
    nonisolated(nonsending) func first<Result: Sendable>(
        _ find: @Sendable ([RecordedMessage]) -> Result?,
        within limit: Duration
    ) async -> Result? {
        let (changes, continuation) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let id = self.state.withLock { state in
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = continuation
            return state.lastWaiter
        }
        let timer = Task {
            try? await Task.sleep(for: limit)
            continuation.finish()
        }
        defer {
            timer.cancel()
            self.state.withLock { state in state.waiters[id] = nil }
        }
        if let result = find(self.messages) { return result }
        for await _ in changes {
            if let result = find(self.messages) { return result }
        }
        // The last message may have been recorded at the moment when the time limit passed.
        return find(self.messages)
    }

    private func change(_ body: (inout State) -> Void) {
        let waiters = self.state.withLock { state in
            body(&state)
            return state.waiters.sorted { $0.key < $1.key }.map(\.value)
        }
        for waiter in waiters { waiter.yield() }
    }
}
