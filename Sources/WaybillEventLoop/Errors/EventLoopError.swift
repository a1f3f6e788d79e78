/// What went wrong with an event loop.
///
/// Look at ``code`` to decide what to do, and at ``message`` to tell a person. New codes may be added, so a `switch`
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
