#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A POSIX signal that a process can wait for.
public struct Signal: Hashable, Sendable {
    /// The number that the system knows the signal by.
    public let number: Int32

    /// A signal that has no name here.
    ///
    /// - Parameter number: The number that the system knows the signal by.
    public init(number: Int32) {
        self.number = number
    }

    /// The terminal was closed, or a daemon is to read its configuration again (`SIGHUP`).
    public static let hangUp = Self(number: SIGHUP)

    /// Control-C was pressed (`SIGINT`).
    public static let interrupt = Self(number: SIGINT)

    /// Control-\ was pressed (`SIGQUIT`).
    public static let quit = Self(number: SIGQUIT)

    /// The process is asked to end (`SIGTERM`).
    public static let terminate = Self(number: SIGTERM)

    /// The first signal without a meaning of its own (`SIGUSR1`).
    public static let user1 = Self(number: SIGUSR1)

    /// The second signal without a meaning of its own (`SIGUSR2`).
    public static let user2 = Self(number: SIGUSR2)

    /// The terminal has another size (`SIGWINCH`).
    public static let windowChange = Self(number: SIGWINCH)
}

extension Signal: CustomStringConvertible {
    /// The system's number, as in "signal 15".
    public var description: String { "signal \(self.number)" }
}
