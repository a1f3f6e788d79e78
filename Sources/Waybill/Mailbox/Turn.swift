internal import WaybillEventLoop
internal import WaybillRouting

/// The task of an awaited message, which waits in a serial mailbox until it is its turn.
struct Turn {
    let id: CorrelationID
    let pause: Pause<Bool>

    /// The number of the first message that nobody awaits and that comes after it.
    var next: Int
}
