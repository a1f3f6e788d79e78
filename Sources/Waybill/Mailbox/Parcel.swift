internal import WaybillRouting

/// A message that nobody awaits, and the handler that it is for.
///
/// It cannot be copied: from its sender it moves through the mailbox to the loop, and no reference in it is counted on
/// the way.
struct Parcel: ~Copyable, Sendable {
    let message: Message
    let handler: Handler
}

extension Parcel {
    /// Ends a message that its handler does not get.
    borrowing func deadLetter(_ error: RoutingError) {
        self.handler.counters.count(.deadLettered)
        self.handler.core.deadLetter(self.message, error, at: self.handler)
    }

    /// Counts, for its route, a message that does not get into the mailbox; its sender counts it for the bus.
    @inline(never)
    borrowing func refused(_ reason: (String) -> RoutingError) -> RoutingError {
        self.handler.counters.count(.deadLettered)
        return reason(self.message.parameters.url).at(self.handler)
    }
}
