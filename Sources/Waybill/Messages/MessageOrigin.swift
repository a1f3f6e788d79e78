/// The origin of a message: this process, or a peer that reached an exposed URL.
///
/// A handler checks the origin to treat local and remote callers differently, and a middleware to refuse a
/// peer:
///
/// ```swift
/// guard message.origin.isLocal || message.origin.userID == 0 else {
///     throw RoutingError.refused("this is for the system's administrator")
/// }
/// ```
///
/// The origin contains only facts that the transport knows, and no claims of the peer. A message that a
/// handler sends is ``local``, even if the handler's own message came from a peer. A message to a return URL
/// that a peer gave has the peer's origin.
public struct MessageOrigin: Sendable, Hashable {
    /// The origin of messages that code of this process sends.
    public static let local = Self(transport: nil)

    /// The transport of the message: `unix`, `tcp` or `http`; nil for ``local``.
    public let transport: String?

    /// The peer's address in the notation of its transport, or nil when the peer has none.
    public let peer: String?

    /// The user ID that the operating system reports for the other end of a Unix socket.
    public let userID: UInt32?

    /// Creates the origin of a peer's messages.
    package init(transport: String?, peer: String? = nil, userID: UInt32? = nil) {
        self.transport = transport
        self.peer = peer
        self.userID = userID
    }

    /// Whether the message was sent by this process.
    public var isLocal: Bool { self.transport == nil }
}

extension MessageOrigin: CustomStringConvertible {
    /// One word: `local`, or the transport with the address and the user if they are known.
    public var description: String {
        guard let transport = self.transport else { return "local" }
        let user = self.userID.map { " (user \($0))" } ?? ""
        return "\(transport)\(self.peer.map { ":\($0)" } ?? "")\(user)".onOneLine
    }
}
