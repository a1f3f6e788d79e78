internal import WaybillEventLoop
public import WaybillRouting

/// The replies to one request as they come, the last one included.
///
/// The request is made when the iteration begins. The handler goes no faster than the loop over the replies: it waits
/// until the next one is asked for. Leaving the loop early cancels the handler.
public struct Replies: AsyncSequence, Sendable {
    /// Why there are no more replies, if the handler did not return.
    public typealias Failure = RoutingError

    let core: BusCore
    let request: Request
    /// How long a request may take, from the beginning of an iteration on.
    let timeout: Duration?

    /// Begins an iteration, which makes a request of its own.
    public func makeAsyncIterator() -> Iterator {
        var request = self.request
        request.limit(to: self.timeout, by: self.core.time)
        return Iterator(core: self.core, request: request)
    }

    /// One request, and its replies.
    public struct Iterator: AsyncIteratorProtocol {
        let core: BusCore
        let request: Request
        private var conversation: Conversation?
        private var isAnswerDue = false
        private var isAtEnd = false
        /// How many replies before the last one there were.
        private var progress = 0

        init(core: BusCore, request: Request) {
            self.core = core
            self.request = request
        }

        /// The next reply, or nil after the last one.
        ///
        /// - Throws: the reason that there is no last reply, once.
        public mutating func next() async throws(RoutingError) -> Reply? {
            try await self.read()
        }

        /// The next reply, for a caller that is isolated to an actor.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RoutingError) -> Reply? {
            try await self.read()
        }

        private nonisolated(nonsending) mutating func read() async throws(RoutingError) -> Reply? {
            guard !self.isAtEnd else { return nil }
            // The first step makes the request, which yields when it has looked where it is made.
            if self.conversation != nil { await EventLoop.yieldIfDue() }
            let conversation =
                if let conversation = self.conversation { conversation } else {
                    await self.core.converse(self.request)
                }
            self.conversation = conversation
            if self.isAnswerDue { conversation.answer() }
            self.isAnswerDue = false
            switch await conversation.next() {
            case .progress(let progress):
                self.isAnswerDue = true
                self.progress += 1
                return self.reply(
                    conversation,
                    progress.value,
                    answer: AnswerSlot(exchange: conversation.exchange, number: self.progress)
                )
            case .finished(let outcome):
                self.isAtEnd = true
                switch outcome {
                case .replied(let value): return self.reply(conversation, value)
                case .failed(let error): throw error
                }
            }
        }

        private func reply(
            _ conversation: Conversation,
            _ value: any Sendable,
            answer: AnswerSlot? = nil
        ) -> Reply {
            let isLast = answer == nil
            return Reply(
                correlationID: conversation.id,
                value: value,
                url: self.request.url,
                isLast: isLast,
                returnLeg: isLast ? conversation.exchange.returnPath.map(ReturnLeg.init) : nil,
                answer: answer
            )
        }
    }
}
