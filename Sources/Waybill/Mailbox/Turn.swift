internal import WaybillRouting

/// The task of an awaited message, which waits in a serial mailbox until it is its turn.
struct Turn {
    let id: CorrelationID
    let continuation: CheckedContinuation<Void, Never>

    /// How many messages that nobody awaits come between the turn before it, and it.
    var ahead: Int
}
