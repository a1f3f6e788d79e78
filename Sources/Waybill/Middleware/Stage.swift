internal import WaybillEventLoop

/// What bounds the rest of a delivery.
@usableFromInline
final class Stage: Sendable {
    /// The deadline that somebody watches already.
    let deadline: Deadline

    /// Whether the message has waited in its mailbox before it met the first middleware, as those do that nobody awaits.
    let hasWaited: Bool

    init(deadline: Deadline, hasWaited: Bool = false) {
        self.deadline = deadline
        self.hasWaited = hasWaited
    }
}
