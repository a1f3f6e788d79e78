internal import Logging
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Puts a message into a feed, or its publisher into the line.
    func offer(_ message: inout Message, to feed: Feed, _ publication: inout Publication) {
        message.id = self.open()
        var offered = message
        if let chain = publication.chain { offered.surround(with: chain) }
        switch feed.offer(offered) {
        case .kept, .read: publication.taken += 1
        case .replaced(let oldest):
            publication.taken += 1
            feed.deadLetter(oldest, .droppedUnread(url: oldest.parameters.url))
        case .queued(let queued): publication.queued.append(queued)
        case .refused(let error): feed.deadLetter(message, error)
        }
    }

    /// Writes down that messages were left unread, once for all: who leaves a loop expects as much.
    func logUnread(_ count: Int, from first: Message, _ reason: (String) -> RoutingError) {
        let url = first.parameters.url
        self.logger.warning(
            "dead letters, unread",
            metadata: ["url": "\(url.onShortLine)", "count": "\(count)", "error": "\(reason(url))"]
        )
    }

    /// Waits until a message is in its feed.
    ///
    /// - Returns: 1 if it is, and 0 if its time is up, the publisher is cancelled or the feed has ended.
    nonisolated(nonsending) func wait(for queued: QueuedMessage) async -> Int {
        let url = queued.message.parameters.url
        var watch: DeadlineWatch?
        if queued.message.due.exists {
            watch = DeadlineWatch(queued.message.due, by: self.time, on: self.currentLane?.eventLoop) {
                queued.giveUp(.deadlineExceeded(url: url))
            }
        }
        let publisher = QueuedMessage.Publisher(on: .current)
        let end = await publisher.wait(isolation: #isolation) {
            queued.wait(publisher)
        } onCancel: {
            queued.giveUp(.cancelled(url: url))
        }
        watch?.cancel()
        guard case .failed(let error) = end else { return 1 }
        self.close(.failed(error), queued.message.id, url, queued.message)
        self.log(url, error)
        return 0
    }
}
