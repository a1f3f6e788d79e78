internal import CLibUV

/// A failure of a listener or a connection.
///
/// Use ``code`` to decide what to do, and ``message`` to tell a person. New codes may be added, so a `switch`
/// over them needs a default.
public struct StreamError: Error {
    /// Behind one reference, so that the results of calls that hardly ever fail are small.
    private final class Storage: Sendable {
        let code: Code
        let message: String
        let address: StreamAddress?
        let systemError: Int32?

        init(_ code: Code, _ message: String, _ address: StreamAddress?, _ systemError: Int32?) {
            self.code = code
            self.message = message
            self.address = address
            self.systemError = systemError
        }
    }

    private let storage: Storage

    /// The kind of failure.
    public var code: Code { self.storage.code }

    /// What was tried and why it failed, as a sentence for a person without a trailing full stop.
    public var message: String { self.storage.message }

    /// The address that was listened at or connected to.
    public var address: StreamAddress? { self.storage.address }

    /// The number of the error in the system's `errno`, if the system refused.
    public var systemError: Int32? { self.storage.systemError }

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: A sentence for a person.
    ///   - address: The address that was listened at or connected to.
    ///   - systemError: The system's `errno`.
    public init(_ code: Code, message: String, address: StreamAddress? = nil, systemError: Int32? = nil) {
        self.storage = Storage(code, message, address, systemError)
    }
}

extension StreamError: CustomStringConvertible {
    /// The code, the sentence and what to do, as a log shows them.
    public var description: String {
        let sentence = "\(self.code): \(self.message)"
        return self.code.advice.map { "\(sentence); \($0)" } ?? sentence
    }
}

extension StreamError {
    /// The kinds of failure; open-ended, so that a new kind breaks no client.
    public struct Code: Hashable, Sendable {
        private enum Storage: String {
            case accessDenied, addressInUse, alreadyWaiting, cancelled, closed, hostNotFound, idle
            case invalidAddress, outOfDescriptors, refused, reset, shutDown, system, timedOut, unreachable
        }

        private let storage: Storage

        /// The system does not allow this address: a privileged port, or a folder without permission.
        public static let accessDenied = Self(storage: .accessDenied)

        /// Another socket, or another file, has the address.
        public static let addressInUse = Self(storage: .addressInUse)

        /// Another task waits for bytes of this connection, or for connections of this listener.
        public static let alreadyWaiting = Self(storage: .alreadyWaiting)

        /// The task that waited was cancelled.
        public static let cancelled = Self(storage: .cancelled)

        /// This side has closed the listener or the connection, or has finished writing.
        public static let closed = Self(storage: .closed)

        /// No address is known for the host's name.
        public static let hostNotFound = Self(storage: .hostNotFound)

        /// No byte came or went for ``StreamOptions/idleTimeout``; the connection is closed.
        public static let idle = Self(storage: .idle)

        /// The address can be no address: a path that is too long, a port that is none.
        public static let invalidAddress = Self(storage: .invalidAddress)

        /// The process or the system has no file descriptor left.
        public static let outOfDescriptors = Self(storage: .outOfDescriptors)

        /// No server listens at the address, or its backlog is full.
        public static let refused = Self(storage: .refused)

        /// The peer has ended the connection, or was killed; what it had not read is lost.
        public static let reset = Self(storage: .reset)

        /// The event loop has shut down, or did so while the caller waited.
        public static let shutDown = Self(storage: .shutDown)

        /// The system refused for another reason; ``StreamError/systemError`` has it.
        public static let system = Self(storage: .system)

        /// The server did not answer within ``StreamOptions/connectTimeout``.
        public static let timedOut = Self(storage: .timedOut)

        /// No way leads to the host.
        public static let unreachable = Self(storage: .unreachable)

        /// What to do about it, if something can be done in general.
        public var advice: String? {
            switch self.storage {
            case .accessDenied: "use a port above 1023, or a folder that this user may write to"
            case .addressInUse: "stop the server that is there, or choose another address"
            case .alreadyWaiting: "let one task read and pass on what it gets"
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
    /// The error for a status of libuv.
    ///
    /// - Parameters:
    ///   - status: The result of a `uv_` function, or a negated `errno`; it is negative.
    ///   - action: What was tried, as in "could not <action>".
    ///   - address: The address that was listened at or connected to.
    /// - Returns: The error.
    static func system(_ status: Int32, _ action: String, _ address: StreamAddress?) -> Self {
        // libuv returns a static string for every code it knows, and a leaked one for those it does not.
        let reason = unsafe uv_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
        return Self(
            Self.code(of: status),
            message: "could not \(action): \(reason)",
            address: address,
            // libuv's own numbers, for names that were not found, are far below those of any system.
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

    /// The error of a call that waited when the loop shut down, or that came later.
    static func shutDown(_ loop: LoopCore, _ address: StreamAddress?) -> Self {
        Self(.shutDown, message: "the event loop \"\(loop.name)\" has shut down", address: address)
    }

    /// The error of a call whose task was cancelled.
    static func cancelled(_ address: StreamAddress?) -> Self {
        Self(.cancelled, message: "the task was cancelled", address: address)
    }

    /// The error of a call on what this side has closed.
    static func closed(_ address: StreamAddress?) -> Self {
        Self(.closed, message: "closed by this side", address: address)
    }
}
