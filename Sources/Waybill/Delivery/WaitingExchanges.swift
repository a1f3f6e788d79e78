/// The exchanges that wait for one handler, the latest first.
///
/// The links are in the exchanges, so that to wait allocates nothing and hashes nothing. An exchange is in
/// one list at most; the lock of that list guards its links.
struct WaitingExchanges: ~Copyable, Sendable {
    /// An exchange's neighbours.
    struct Links {
        fileprivate var isLinked = false
        fileprivate var next: Exchange?
        /// It has this exchange as its next one.
        fileprivate unowned(unsafe) var previous: Exchange?
    }

    private var first: Exchange?

    /// Adds an exchange that is in no list.
    mutating func add(_ exchange: Exchange) {
        assert(unsafe !exchange.links.isLinked, "an exchange waits for one handler")
        // The lock is held, here and below.
        unsafe self.first?.links.previous = exchange
        unsafe exchange.links = Links(isLinked: true, next: self.first, previous: nil)
        self.first = exchange
    }

    /// Removes an exchange, if it is there.
    mutating func remove(_ exchange: Exchange) {
        guard unsafe exchange.links.isLinked else { return }
        let (next, previous) = unsafe (exchange.links.next, exchange.links.previous)
        unsafe next?.links.previous = previous
        if let previous { unsafe previous.links.next = next } else { self.first = next }
        unsafe exchange.links = Links()
    }

    /// Removes all exchanges but some.
    ///
    /// - Parameter isExempt: whether an exchange stays.
    /// - Returns: what was removed.
    mutating func removeAll(but isExempt: (Exchange) -> Bool) -> [Exchange] {
        var removed: [Exchange] = []
        var rest = self.first
        while let exchange = rest {
            unsafe rest = exchange.links.next
            if isExempt(exchange) { continue }
            self.remove(exchange)
            removed.append(exchange)
        }
        return removed
    }

    // One by one: a chain of references would be released by a function that calls itself.
    deinit {
        var rest = self.first
        while let exchange = rest {
            unsafe rest = exchange.links.next
            unsafe exchange.links = Links()
        }
    }
}
