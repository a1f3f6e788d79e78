/// What went wrong on the way of a message: where it was going, why it did not get there, and what caused it.
///
/// The code says which kind of failure it is and is meant for programs; ``message`` is one sentence for a person and
/// says how to mend it where that is known. A caller can always tell "nobody is there" (``Code/noRoute``) from
/// "somebody is slow" (``Code/deadlineExceeded``) from "somebody failed" (``Code/handlerFailed``).
///
/// A handler that routes on and lets the error of that through has failed: its caller gets
/// ``Code/handlerFailed``, and ``rootCause`` is the error of the message that failed first.
///
/// An error is one reference wide, so that throwing functions on the way of a message return in registers.
public struct RoutingError: Error {
    private let storage: Storage

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - url: the URL, or the pattern, that the failure is about.
    ///   - message: one sentence for a person; what would break the line in which it is printed is escaped,
    ///     and it is cut at 1,000 characters (``SafeText``).
    ///   - cause: the error underneath, if another one led to this.
    public init(_ code: Code, url: String = "", message: String, cause: (any Error)? = nil) {
        let message = SafeText.line(message, limit: Self.longestSentence)
        self.storage = Storage(code: code, url: url, message: message, cause: cause, route: nil, module: nil)
    }

    /// How many characters a sentence, or the description of a cause, may have.
    static let longestSentence = 1_000

    private init(_ error: RoutingError, route: String?, module: String?) {
        self.storage = Storage(
            code: error.code,
            url: error.url,
            message: error.message,
            cause: error.cause,
            route: route,
            module: module
        )
    }

    /// The kind of failure.
    public var code: Code { self.storage.code }

    /// The URL, or the pattern, that the failure is about.
    public var url: String { self.storage.url }

    /// The pattern of the route that the URL leads to, where the failure is that of a message that had found one.
    public var route: String? { self.storage.route }

    /// The type of the module that the route belongs to, if it belongs to one.
    public var module: String? { self.storage.module }

    /// The error, with the route and the module that it is about, unless it names them already.
    package func at(route: String?, module: String?) -> RoutingError {
        guard self.route == nil, route != nil || module != nil else { return self }
        return RoutingError(self, route: route, module: module)
    }

    /// What happened, in one sentence for a person.
    public var message: String { self.storage.message }

    /// The error underneath: what a handler threw, for example.
    public var cause: (any Error)? { self.storage.cause }

    /// The error that began it: the last `RoutingError` in the chain of causes, or this one if it has no such
    /// cause.
    ///
    /// A handler that routes on fails with ``Code/handlerFailed`` when the message that it routed fails,
    /// however many handlers there are between the caller and that message. This tells why:
    ///
    /// ```swift
    /// do throws(RoutingError) {
    ///     try await bus.route("app://orders/place")
    /// } catch where error.rootCause.code == .noRoute {
    ///     print("\(error.rootCause.url) leads nowhere")
    /// }
    /// ```
    ///
    /// An error that is no `RoutingError` ends the chain: it is the ``cause`` of what this returns.
    public var rootCause: RoutingError {
        var error = self
        while let cause = error.cause as? RoutingError { error = cause }
        return error
    }

    private final class Storage: Sendable {
        let code: Code
        let url: String
        let message: String
        let cause: (any Error)?
        let route: String?
        let module: String?

        init(
            code: Code,
            url: String,
            message: String,
            cause: (any Error)?,
            route: String?,
            module: String?
        ) {
            self.code = code
            self.url = url
            self.message = message
            self.cause = cause
            self.route = route
            self.module = module
        }
    }
}
