public import WaybillRouting

/// Carries the messages of one scheme to where they are handled: to another host, to a device, to code that no pattern
/// can name.
///
/// ```swift
/// struct Memos: Connector {
///     nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
///         try await memos.text(named: message.address.path)
///     }
/// }
///
/// try bus.connect("memo", to: Memos())
/// ```
///
/// A connector is the handler of every URL of its scheme that no registered pattern takes, and is treated like one: it
/// runs on the bus's loop, in a task of its own; it is cancelled when its caller is, when the deadline passes, and when it is
/// disconnected; its messages meet the middlewares and are counted. It may reply before the last reply with
/// ``Message/reply(with:)``. The address of a message has the text of the URL as it was given.
///
/// Write one when URLs are not known beforehand. Where they are, routes do the same with patterns, and say what there is.
///
/// What a connector throws is what its caller gets: a `RoutingError` about this message, or about no URL, as it is; anything
/// else as `handlerFailed`, with the error as its cause. To say that the other side cannot be reached, throw `unreachable`.
///
/// A conformance in a module that does not have the upcoming feature `NonisolatedNonsendingByDefault` should say
/// `nonisolated(nonsending)`, as above, or every message makes a detour through the global executor.
public protocol Connector: Sendable {
    /// Lets a message pass, or refuses it.
    ///
    /// It is called before ``route(_:as:)``, which is not called if this throws, and may take its time. What refuses throws
    /// ``WaybillRouting/RoutingError/refused(_:cause:)``, which callers can tell from every other failure.
    ///
    /// - Parameter message: the message.
    /// - Throws: the reason that the message may not pass.
    nonisolated(nonsending) func willRoute(_ message: Message) async throws

    /// Carries a message to where it is handled, and brings the reply back.
    ///
    /// - Parameter message: the message, with the parameters, headers and deadline that its caller gave.
    /// - Returns: the reply's value; `()` if there is nothing to say.
    /// - Throws: the reason that there is no reply.
    nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable

    /// Whether a URL of the scheme leads anywhere, as far as that is known without asking anybody.
    ///
    /// It is what ``MessageBus/canRoute(_:)`` says, is called on the thread of whoever asks, and must not block.
    ///
    /// - Parameter address: the URL.
    /// - Returns: whether a message to it may be answered.
    func canRoute(_ address: Address) -> Bool
}

extension Connector {
    /// Lets every message pass.
    public nonisolated(nonsending) func willRoute(_ message: Message) async throws {}

    /// Says yes to every URL of the scheme.
    public func canRoute(_ address: Address) -> Bool { true }
}
