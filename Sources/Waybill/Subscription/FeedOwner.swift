internal import WaybillEventLoop
internal import WaybillRouting

/// Ends a subscription when nobody who could read it is there any more.
final class FeedOwner: Sendable {
    let feed: Feed
    let subscription: Registration

    init(_ feed: Feed, _ subscription: Registration) {
        self.feed = feed
        self.subscription = subscription
    }

    deinit { self.subscription.cancel() }

    /// The next message, or nil when the subscription has ended.
    nonisolated(nonsending) func next() async -> Message? {
        while true {
            await EventLoop.yieldIfDue()
            if Task.isCancelled { self.subscription.cancel() }
            let taken = self.feed.take()
            if taken.isOver { return nil }
            guard let message = if let message = taken.message { message } else { await self.wait() } else {
                return nil
            }
            if message.due.hasPassed(by: self.feed.core.time) {
                self.feed.core.close(.expired)
                self.feed.core.log(message.parameters.url, .deadlineExceeded(url: message.parameters.url))
                continue
            }
            guard let chain = message.extras?.passage?.chain else {
                self.feed.core.close(.replied)
                return message
            }
            if let message = await self.pass(message, through: chain) { return message }
        }
    }

    /// Takes a message through the middlewares around its delivery, where the reader is.
    ///
    /// - Returns: the message as it got to the end; nil if one of them refused it, or answered in the reader's place.
    private nonisolated(nonsending) func pass(_ message: Message, through chain: Chain) async -> Message? {
        let core = self.feed.core
        let arrived = Locked<Message?>(nil)
        let end = Handler(
            immediate: { message in arrived.withLock { $0 = message } },
            mailbox: core.homeMailbox,
            core: core
        )
        end.describe(as: .pattern(self.subscription.pattern))
        // Nobody watches the deadline yet: whoever is about to read does not.
        let stage = Stage(deadline: .never, hasWaited: true)
        let outcome = await Delivery(chain, end, stage).outcome(of: message).at(end)
        core.close(outcome, message.id, message.parameters.url, at: end, message)
        if case .failed(let error) = outcome {
            core.log(message.parameters.url, error)
            return nil
        }
        return arrived.withLock { $0 }
    }

    private nonisolated(nonsending) func wait() async -> Message? {
        let reader = Feed.Reader(on: .current)
        return await reader.wait(isolation: #isolation) {
            self.feed.read(reader)
        } onCancel: {
            self.subscription.cancel()
        }
    }
}
