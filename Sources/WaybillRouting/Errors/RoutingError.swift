/// A failure of a message: its code, the URL or pattern, the reason, and the underlying error.
///
/// The code is for programs; ``message`` is one sentence for people, and says how to fix the problem where
/// that is known. The code tells a missing route (``Code/noRoute``) from a late reply
/// (``Code/deadlineExceeded``) and from a handler that threw (``Code/handlerFailed``).
///
/// A handler that forwards a message and rethrows its error has failed itself: its caller gets
/// ``Code/handlerFailed``, and ``rootCause`` is the error of the message that failed first.
///
/// An error is one reference wide, so a throwing function returns it in a register.
public struct RoutingError: Error {
    private let storage: Storage

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - url: the URL, or the pattern, that the failure is about.
    ///   - message: one sentence for people; line breaks and control characters are escaped, and it is cut at
    ///     1,000 characters (``SafeText``).
    ///   - cause: the underlying error, if there is one.
    public init(_ code: Code, url: String = "", message: String, cause: (any Error)? = nil) {
        let message = SafeText.line(message, limit: Self.maximumLength)
        self.storage = Storage(code: code, url: url, message: message, cause: cause, route: nil, module: nil)
    }

    /// The maximum length, in characters, of a message and of a cause's description.
    static let maximumLength = 1_000

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

    /// The URL, the pattern, or the service that the failure is about.
    public var url: String { self.storage.url }

    /// The pattern of the matched route; nil when the message failed before a route was found.
    public var route: String? { self.storage.route }

    /// The type of the module that owns the route, if a module does.
    public var module: String? { self.storage.module }

    /// Returns the error with this route and module, unless it already names one.
    package func at(route: String?, module: String?) -> RoutingError {
        guard self.route == nil, route != nil || module != nil else { return self }
        return RoutingError(self, route: route, module: module)
    }

    /// What happened, in one sentence for people.
    public var message: String { self.storage.message }

    /// The underlying error, such as the error that a handler threw.
    public var cause: (any Error)? { self.storage.cause }

    /// The first failure: the last `RoutingError` in the chain of causes, or this error if its cause is none.
    ///
    /// When handlers forward messages, each level between the caller and the failure adds a
    /// ``Code/handlerFailed``; this property skips those levels:
    ///
    /// ```swift
    /// do throws(RoutingError) {
    ///     try await bus.route("app://orders/place")
    /// } catch where error.rootCause.code == .noRoute {
    ///     print("\(error.rootCause.url) leads nowhere")
    /// }
    /// ```
    ///
    /// An error that is not a `RoutingError` ends the chain: it is the ``cause`` of the returned error.
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
