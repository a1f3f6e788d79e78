/// Where a message came from: this process, or a peer that reached what is exposed.
///
/// A handler looks at it where being reached from outside makes a difference, and a middleware where it
/// refuses a peer:
///
/// ```swift
/// guard message.origin.isLocal || message.origin.userID == 0 else {
///     throw RoutingError.refused("this is for the system's administrator")
/// }
/// ```
///
/// It is what the transport knows of the peer, and nothing that the peer says of itself. What a handler sends
/// is ``local``, whatever its own message is; a message on a return URL that a peer gave has the peer's
/// origin.
public struct MessageOrigin: Sendable, Hashable {
    /// Code of this process.
    public static let local = Self()

    /// How the message came: `unix`, `tcp` or `http`; nil for ``local``.
    public let transport: String?

    /// The peer's address as its transport writes it, if it has one.
    public let peer: String?

    /// The user ID of the process at the other end of a Unix socket, as the system says it.
    public let userID: UInt32?

    private init() {
        self.transport = nil
        self.peer = nil
        self.userID = nil
    }

    /// The origin of a peer's messages.
    package init(transport: String, peer: String? = nil, userID: UInt32? = nil) {
        self.transport = transport
        self.peer = peer
        self.userID = userID
    }

    /// Whether the message is of this process.
    public var isLocal: Bool { self.transport == nil }
}

extension MessageOrigin: CustomStringConvertible {
    /// One word: `local`, or transport, address and user, as far as they are known.
    public var description: String {
        guard let transport = self.transport else { return "local" }
        let user = self.userID.map { " (user \($0))" } ?? ""
        return "\(transport)\(self.peer.map { ":\($0)" } ?? "")\(user)".onOneLine
    }
}
