/// What went wrong on the way of a message: where it was going, why it did not get there, and what caused it.
///
/// The code says which kind of failure it is and is meant for programs; ``message`` is one sentence for a person and
/// says how to mend it where that is known. A caller can always tell "nobody is there" (``Code/noRoute``) from
/// "somebody is slow" (``Code/deadlineExceeded``) from "somebody failed" (``Code/handlerFailed``).
///
/// An error is one reference wide, so that throwing functions on the way of a message return in registers.
public struct RoutingError: Error {
    private let storage: Storage

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - url: the URL, or the pattern, that the failure is about.
    ///   - message: one sentence for a person.
    ///   - cause: the error underneath, if another one led to this.
    public init(_ code: Code, url: String = "", message: String, cause: (any Error)? = nil) {
        self.storage = Storage(code: code, url: url, message: message, cause: cause)
    }

    /// The kind of failure.
    public var code: Code { self.storage.code }

    /// The URL, or the pattern, that the failure is about.
    public var url: String { self.storage.url }

    /// What happened, in one sentence for a person.
    public var message: String { self.storage.message }

    /// The error underneath: what a handler threw, for example.
    public var cause: (any Error)? { self.storage.cause }

    private final class Storage: Sendable {
        let code: Code
        let url: String
        let message: String
        let cause: (any Error)?

        init(code: Code, url: String, message: String, cause: (any Error)?) {
            self.code = code
            self.url = url
            self.message = message
            self.cause = cause
        }
    }
}
