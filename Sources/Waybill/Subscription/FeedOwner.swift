internal import WaybillEventLoop
internal import WaybillRouting

/// Ends a subscription when nobody who could read it is there any more.
final class FeedOwner: Sendable {
    let feed: Feed
    let subscription: Subscription

    init(_ feed: Feed, _ subscription: Subscription) {
        self.feed = feed
        self.subscription = subscription
    }

    deinit { self.subscription.cancel() }

    /// The next message, or nil when the subscription has ended.
    nonisolated(nonsending) func next() async -> Message? {
        while true {
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
            self.feed.core.close(.replied)
            return message
        }
    }

    private nonisolated(nonsending) func wait() async -> Message? {
        if let anchor = self.feed.core.anchor { return await anchor.next(in: self.feed, self.subscription) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { self.feed.read($0) }
        } onCancel: {
            self.subscription.cancel()
        }
    }
}
