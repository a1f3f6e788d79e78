internal import Waybill

/// A connector that is an actor and replies with its count.
actor CountingConnector: Connector {
    private var count = 0

    func route(_ message: Message) async throws -> any Sendable {
        self.count += 1
        return self.count
    }
}
