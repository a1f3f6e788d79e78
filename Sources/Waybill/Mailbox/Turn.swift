internal import WaybillRouting

/// Somebody in the line of a serial mailbox.
enum Turn: ~Copyable {
    /// A message that nobody awaits.
    case parcel(Parcel)
    /// The task of a message that is awaited.
    case task(Waiter)

    /// A task that waits for its turn.
    struct Waiter {
        let id: CorrelationID
        let continuation: CheckedContinuation<Void, Never>
    }

    /// Whether it is a message that nobody awaits, and that nobody handles any more.
    var isStranded: Bool {
        switch self {
        case .parcel(let parcel): parcel.handler.isGone
        case .task: false
        }
    }

    /// Ends a message whose handler has gone.
    consuming func strand() {
        switch consume self {
        case .parcel(let parcel):
            parcel.deadLetter(parcel.handler.reason(parcel.message.parameters.url))
        case .task(let waiter): waiter.continuation.resume()
        }
    }
}
