internal import Waybill
internal import WaybillEventLoop
internal import WaybillJSON
internal import WaybillRouting

extension RPCSession {
    /// Subscribes the peer to a pattern, and returns the number of the subscription.
    func subscribe(to pattern: String) throws(RPCFailure) -> Int {
        guard self.limits.subscriptions > 0 else {
            throw self.failure(RoutingError(.refused, message: "this server does not support subscriptions"))
        }
        guard self.subscriptions.count < self.limits.subscriptions else {
            throw .limit("\(self.limits.subscriptions) subscriptions are open, which is the limit")
        }
        guard self.connection?.load.assumeOnLoop({ $0.addSubscription() }) ?? true else {
            throw .limit(
                "\(self.limits.subscriptionsOfAll) subscriptions of all peers are open, which is the limit"
            )
        }
        let messages: SubscriptionSequence
        do throws(RoutingError) {
            messages = try self.bus.externalMessages(
                of: pattern,
                to: self.audience,
                limit: self.limits.messagesPerSubscription,
                memory: self.connection?.subscriptionMemory
            )
        } catch {
            self.connection?.load.assumeOnLoop { $0.removeSubscription() }
            throw error.code == .invalidPattern ? .parameters(error.message) : self.failure(error)
        }
        self.lastSubscription += 1
        let number = self.lastSubscription
        self.subscriptions[number] = Task {
            for await message in messages {
                let missed = messages.takeMissed()
                self.send(self.text(of: message, for: number, afterMissing: missed), to: .null)
                // Wait until the peer reads. During that time, the oldest messages are dropped.
                await self.channel.flush()
            }
            self.subscriptionEnded(number)
        }
        return number
    }

    /// Ends a subscription of the peer, and returns whether the subscription existed.
    func unsubscribe(_ number: Int) -> Bool {
        guard let task = self.subscriptions.removeValue(forKey: number) else { return false }
        task.cancel()
        self.connection?.load.assumeOnLoop { $0.removeSubscription() }
        return true
    }

    /// Informs the peer that a subscription has ended, because the bus has shut down.
    private func subscriptionEnded(_ number: Int) {
        guard self.subscriptions.removeValue(forKey: number) != nil else { return }
        self.connection?.load.assumeOnLoop { $0.removeSubscription() }
        var writer = JSONWriter()
        writer.raw("{\"jsonrpc\":\"2.0\",\"method\":\"\(SystemMethod.unsubscribe.rawValue)\"")
        writer.raw(",\"params\":{\"subscription\":\(number)}}")
        self.channel.enqueue(writer.bytes)
        self.channel.flushSoon()
    }

    private func text(
        of message: Message,
        for number: Int,
        afterMissing missed: Int
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw(
            "{\"jsonrpc\":\"2.0\",\"method\":\"\(SystemMethod.message)\",\"params\":{\"subscription\":"
        )
        writer.raw("\(number)")
        if missed > 0 { writer.raw(",\"missed\":\(missed)") }
        writer.published(message, isFirst: false) { self.failure($0) }
        writer.raw("}}")
        return writer.bytes
    }
}
