internal import WaybillRouting

/// The subscribers of one message, in the order of subscription.
struct MatchedSubscribers: Sendable {
    private(set) var subscribers: [Subscriber] = []

    /// The parameters of the URL, once for each pattern that matches.
    private(set) var parameters: [Parameters] = []

    /// The index in ``parameters`` for each subscriber; empty when only one pattern matches.
    private(set) var patterns: [Int] = []
    private var ids: [Int] = []

    var isEmpty: Bool { self.subscribers.isEmpty }

    /// Adds the subscribers of another pattern.
    mutating func append(_ subscribers: [Subscriber], ids: [Int], _ parameters: Parameters) {
        self.parameters.append(parameters)
        if self.parameters.count == 1 {
            self.subscribers = subscribers
            self.ids = ids
            return
        }
        if self.patterns.isEmpty { self.patterns = Array(repeating: 0, count: self.subscribers.count) }
        self.patterns += repeatElement(self.parameters.count - 1, count: subscribers.count)
        self.subscribers += subscribers
        self.ids += ids
    }

    /// Sorts the subscribers of several patterns in the order of subscription.
    mutating func sort() {
        guard self.parameters.count > 1 else { return }
        // The subscribers of each pattern are already in order, so the sort of the standard library is fast.
        let order = self.ids.indices.sorted { self.ids[$0] < self.ids[$1] }
        self.subscribers = order.map { self.subscribers[$0] }
        self.patterns = order.map { self.patterns[$0] }
    }

    /// Returns the index in ``parameters`` for a subscriber.
    func pattern(of index: Int) -> Int { self.patterns.isEmpty ? 0 : self.patterns[index] }
}
