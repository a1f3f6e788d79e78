internal import CLibUV

/// A failure of a listener or a connection.
///
/// Use ``code`` to choose an action, and ``message`` to inform a person. New codes may be added, so a
/// `switch` over the codes needs a default.
public struct StreamError: Error {
    /// The members of the error, behind one reference so that a `Result` with this error is small.
    private final class Storage: Sendable {
        let code: Code
        let message: String
        let address: StreamAddress?
        let systemError: Int32?

        init(_ code: Code, message: String, address: StreamAddress?, systemError: Int32?) {
            self.code = code
            self.message = message
            self.address = address
            self.systemError = systemError
        }
    }

    private let storage: Storage

    /// The kind of failure.
    public var code: Code { self.storage.code }

    /// The action that was tried and the reason for its failure.
    ///
    /// The message is one sentence for a person, without a trailing full stop.
    public var message: String { self.storage.message }

    /// The address of the listener or the peer.
    public var address: StreamAddress? { self.storage.address }

    /// The system's `errno`, if a system call has failed.
    public var systemError: Int32? { self.storage.systemError }

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: One sentence for a person, without a trailing full stop.
    ///   - address: The address of the listener or the peer.
    ///   - systemError: The system's `errno`.
    public init(_ code: Code, message: String, address: StreamAddress? = nil, systemError: Int32? = nil) {
        self.storage = Storage(code, message: message, address: address, systemError: systemError)
    }
}

extension StreamError: CustomStringConvertible {
    /// The code, the message and the advice, for logs.
    public var description: String {
        let sentence = "\(self.code): \(self.message)"
        return self.code.advice.map { "\(sentence); \($0)" } ?? sentence
    }
}

extension StreamError {
    /// The kinds of failure.
    ///
    /// The type is open-ended, so that a new kind does not break the code of clients.
    public struct Code: Hashable, Sendable {
        private enum Storage: String {
            case accessDenied, addressInUse, alreadyWaiting, cancelled, closed, hostNotFound, idle
            case invalidAddress, outOfDescriptors, refused, reset, shutDown, system, timedOut, unreachable
        }

        private let storage: Storage

        /// The system does not allow this address: a privileged port, or a folder without permission.
        public static let accessDenied = Self(storage: .accessDenied)

        /// Another socket, or another file, uses the address.
        public static let addressInUse = Self(storage: .addressInUse)

        /// Another task already waits for bytes of this connection, or for connections of this listener.
        public static let alreadyWaiting = Self(storage: .alreadyWaiting)

        /// The task that waited was cancelled.
        public static let cancelled = Self(storage: .cancelled)

        /// This side has closed the listener or the connection, or has finished writing.
        public static let closed = Self(storage: .closed)

        /// The name of the host cannot be resolved.
        public static let hostNotFound = Self(storage: .hostNotFound)

        /// No byte was sent or received for ``StreamOptions/idleTimeout``; the connection is closed.
        public static let idle = Self(storage: .idle)

        /// The address is not valid, because a path is too long or a port is out of range, for example.
        public static let invalidAddress = Self(storage: .invalidAddress)

        /// The process or the system has no file descriptor left.
        public static let outOfDescriptors = Self(storage: .outOfDescriptors)

        /// No server listens at the address, or the backlog of the server is full.
        public static let refused = Self(storage: .refused)

        /// The peer has ended the connection, or the process of the peer was killed.
        ///
        /// Bytes that the peer had not read are lost.
        public static let reset = Self(storage: .reset)

        /// The event loop has shut down, or it shut down while the caller waited.
        public static let shutDown = Self(storage: .shutDown)

        /// A system call failed for another reason; ``StreamError/systemError`` contains the number.
        public static let system = Self(storage: .system)

        /// The server did not answer within ``StreamOptions/connectTimeout``.
        public static let timedOut = Self(storage: .timedOut)

        /// The network has no route to the host.
        public static let unreachable = Self(storage: .unreachable)

        /// The usual remedy for this kind of failure; nil if there is none.
        public var advice: String? {
            switch self.storage {
            case .accessDenied: "use a port above 1023, or a folder that this user may write to"
            case .addressInUse: "stop the server that uses the address, or choose another address"
            case .alreadyWaiting: "let only one task read, and pass the bytes on to others"
            case .hostNotFound: "check the spelling of the host, and the system's name servers"
            case .idle: "send something from time to time, or raise idleTimeout"
            case .invalidAddress: "correct the address"
            case .outOfDescriptors: "close connections, or raise the limit (ulimit -n)"
            case .refused, .timedOut: "start the server, or try again later"
            case .unreachable: "check the network"
            case .cancelled, .closed, .reset, .shutDown, .system: nil
            }
        }
    }
}

extension StreamError.Code: CustomStringConvertible {
    /// The name of the code.
    public var description: String { self.storage.rawValue }
}

extension StreamError {
    /// Creates the error for a status, which is a negative result of libuv or a negated `errno`.
    static func system(_ status: Int32, action: String, address: StreamAddress?) -> Self {
        // libuv returns a static string for a code that it knows. For an unknown code it allocates a string
        // that is never freed.
        let reason = unsafe uv_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
        return Self(
            Self.code(of: status),
            message: "could not \(action): \(reason)",
            address: address,
            // The codes of libuv for failed name lookups are far below the negated `errno` values of a
            // system.
            systemError: status > -1000 ? -status : nil
        )
    }

    private static func code(of status: Int32) -> Code {
        switch uv_errno_t(status) {
        case UV_EACCES, UV_EPERM, UV_EROFS: .accessDenied
        case UV_EADDRINUSE: .addressInUse
        case UV_ECONNREFUSED, UV_ENOENT, UV_EAGAIN: .refused
        case UV_ECONNRESET, UV_EPIPE, UV_ECONNABORTED, UV_ENOTCONN: .reset
        case UV_ETIMEDOUT: .timedOut
        case UV_EHOSTUNREACH, UV_ENETUNREACH, UV_ENETDOWN: .unreachable
        case UV_EMFILE, UV_ENFILE: .outOfDescriptors
        case UV_EAI_NONAME, UV_EAI_NODATA, UV_EAI_AGAIN, UV_EAI_FAIL, UV_EAI_ADDRFAMILY: .hostNotFound
        case UV_ECANCELED: .cancelled
        case UV_EINVAL, UV_ENAMETOOLONG: .invalidAddress
        default: .system
        }
    }

    /// Creates the error for a call that waited when the loop shut down, or that was made after the shutdown.
    static func shutDown(_ loop: LoopCore, _ address: StreamAddress?) -> Self {
        Self(.shutDown, message: "the event loop \"\(loop.name)\" has shut down", address: address)
    }

    /// Creates the error of a call whose task was cancelled.
    static func cancelled(_ address: StreamAddress?) -> Self {
        Self(.cancelled, message: "the task was cancelled", address: address)
    }

    /// Creates the error of a call on a listener or connection that this side has closed.
    static func closed(_ address: StreamAddress?) -> Self {
        Self(.closed, message: "this side has closed the listener or the connection", address: address)
    }
}
