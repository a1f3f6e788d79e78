/// How a module takes its messages: how many may wait, what happens to one more, and whether they may interleave.
///
/// ```swift
/// try bus.configureMailbox(of: printer, .init(limit: 16, whenFull: .suspend, isSerial: true))
/// ```
public struct MailboxConfiguration: Sendable, Hashable {
    /// What happens to a message that finds the mailbox full.
    public enum Overflow: Sendable, Hashable {
        /// It fails with `mailboxFull`; the default.
        case fail
        /// Its sender waits, and is served in the order of arrival.
        ///
        /// A caller that awaits the reply waits anyway and takes up no place, so that only
        /// ``MessageBus/enqueue(_:parameters:headers:deadline:timeout:)`` waits for one. What cannot wait,
        /// ``MessageBus/send(_:parameters:headers:)``, fails.
        case suspend
        /// The message that has waited longest is dropped with `mailboxFull`, and is a dead letter if nobody awaits it.
        case dropOldest
    }

    /// How many messages may wait, at least 1, or 0 for a serial module; nil for the bus's own limit.
    public var limit: Int?

    /// What happens to one more.
    public var whenFull: Overflow

    /// Whether a message is finished before the next one is started; by default handlers interleave where they
    /// suspend, as actors do.
    ///
    /// A serial module that routes to itself, directly or through others, would wait for itself for ever: such a message
    /// fails with `deadlock`.
    public var isSerial: Bool

    /// Makes a configuration; everything has a default.
    public init(limit: Int? = nil, whenFull: Overflow = .fail, isSerial: Bool = false) {
        self.limit = limit
        self.whenFull = whenFull
        self.isSerial = isSerial
    }
}
