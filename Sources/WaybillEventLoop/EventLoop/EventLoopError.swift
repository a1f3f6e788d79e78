internal import CLibUV

/// A failure of an event loop.
///
/// Use ``code`` to choose an action, and ``message`` to inform a person. New codes may be added, so a
/// `switch` over the codes needs a default.
public struct EventLoopError: Error {
    /// The kind of failure.
    public let code: Code

    /// The description of the failure: one sentence for a person, without a trailing full stop.
    public let message: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: One sentence for a person, without a trailing full stop.
    public init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }
}

extension EventLoopError: CustomStringConvertible {
    /// The code and the message, for logs.
    public var description: String { "\(self.code): \(self.message)" }
}

extension EventLoopError {
    /// The kinds of failure.
    ///
    /// The type is open-ended, so that a new kind does not break the code of clients.
    public struct Code: Hashable, Sendable {
        private enum Storage: String {
            case shutDown, system
        }

        private let storage: Storage

        /// The loop has shut down, or it shut down while the caller waited.
        public static let shutDown = Self(storage: .shutDown)

        /// The operating system failed the call: no file descriptor or memory is left, or a signal cannot be
        /// caught.
        public static let system = Self(storage: .system)
    }
}

extension EventLoopError.Code: CustomStringConvertible {
    /// The name of the code.
    public var description: String { self.storage.rawValue }
}

extension EventLoopError {
    /// Returns the error for a call that used a loop, or waited on a loop, that has shut down.
    static func shutDown(_ name: String) -> Self {
        Self(.shutDown, message: "the event loop \"\(name)\" has shut down")
    }

    /// Throws an error with the code `system` if `status`, the result of a libuv function, is negative.
    static func check(_ status: Int32, _ action: @autoclosure () -> String) throws(EventLoopError) {
        guard status < 0 else { return }
        // libuv returns a static string for a code that it knows. For an unknown code it allocates a string
        // that is never freed.
        let reason = unsafe uv_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
        throw Self(.system, message: "could not \(action()): \(reason)")
    }
}
