internal import CLibUV

/// A failure of an event loop.
///
/// Use ``code`` to decide what to do, and ``message`` to tell a person. New codes may be added, so a `switch`
/// over them needs a default.
public struct EventLoopError: Error {
    /// The kind of failure.
    public let code: Code

    /// A sentence for a person, without a trailing full stop.
    public let message: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: A sentence for a person.
    public init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }
}

extension EventLoopError: CustomStringConvertible {
    /// The code and the sentence, as a log shows them.
    public var description: String { "\(self.code): \(self.message)" }
}

extension EventLoopError {
    /// The kinds of failure; open-ended, so that a new kind breaks no client.
    public struct Code: Hashable, Sendable {
        private enum Storage: String {
            case shutDown, system
        }

        private let storage: Storage

        /// The loop has shut down, or did so while the caller waited.
        public static let shutDown = Self(storage: .shutDown)

        /// The operating system refused: no file descriptors or memory left, or a signal that cannot be
        /// caught.
        public static let system = Self(storage: .system)
    }
}

extension EventLoopError.Code: CustomStringConvertible {
    /// The name of the code.
    public var description: String { self.storage.rawValue }
}

extension EventLoopError {
    /// The error of a call that used the loop, or waited on it, when it shut down.
    static func shutDown(_ name: String) -> Self {
        Self(.shutDown, message: "the event loop \"\(name)\" has shut down")
    }

    /// Throws if libuv answered `status` with a failure.
    ///
    /// - Parameters:
    ///   - status: The result of a `uv_` function; negative is a failure.
    ///   - action: What was tried, as in "could not <action>".
    /// - Throws: What went wrong, with the code `system`.
    static func check(_ status: Int32, _ action: @autoclosure () -> String) throws(EventLoopError) {
        guard status < 0 else { return }
        // libuv returns a static string for every code it knows, and a leaked one for those it does not.
        let reason = unsafe uv_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
        throw Self(.system, message: "could not \(action()): \(reason)")
    }
}
