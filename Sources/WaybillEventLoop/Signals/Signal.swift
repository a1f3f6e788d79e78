#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A POSIX signal that a process can wait for.
public struct Signal: Hashable, Sendable {
    /// The system's number of the signal.
    public let number: Int32

    /// Creates a signal that has no constant in this type.
    ///
    /// - Parameter number: The system's number of the signal.
    public init(number: Int32) {
        self.number = number
    }

    /// The terminal was closed, or a daemon is asked to reload its configuration (`SIGHUP`).
    public static let hangUp = Self(number: SIGHUP)

    /// Control-C was pressed (`SIGINT`).
    public static let interrupt = Self(number: SIGINT)

    /// Control-\ was pressed (`SIGQUIT`).
    public static let quit = Self(number: SIGQUIT)

    /// The process is asked to end (`SIGTERM`).
    public static let terminate = Self(number: SIGTERM)

    /// The first signal without a predefined meaning (`SIGUSR1`).
    public static let user1 = Self(number: SIGUSR1)

    /// The second signal without a predefined meaning (`SIGUSR2`).
    public static let user2 = Self(number: SIGUSR2)

    /// The size of the terminal has changed (`SIGWINCH`).
    public static let windowChange = Self(number: SIGWINCH)

    /// The process has written to a connection that its peer has closed (`SIGPIPE`).
    static let brokenPipe = Self(number: SIGPIPE)
}

extension Signal: CustomStringConvertible {
    /// The system's number, as in "signal 15".
    public var description: String { "signal \(self.number)" }
}
