/// A failure of a message: its code, the URL or pattern, the reason, and the underlying error.
///
/// Programs use the code. People read ``message``, which is one sentence and describes the remedy if it is
/// known. The code distinguishes a missing route (``Code/noRoute``) from a late reply
/// (``Code/deadlineExceeded``) and from a handler that threw (``Code/handlerFailed``).
///
/// A handler can forward a message and rethrow the error of that message. The handler itself has then failed.
/// Its caller receives ``Code/handlerFailed``, and ``rootCause`` is the error of the message that failed
/// first.
///
/// An error has the size of one reference, so a throwing function returns the error in a register.
public struct RoutingError: Error {
    private let storage: Storage

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - url: The URL or pattern that the failure is about.
    ///   - message: One sentence for people. Line breaks and control characters are escaped, and the message
    ///     is cut at 1,000 characters (``SafeText``).
    ///   - cause: The underlying error; nil when the failure has no underlying error.
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

    /// The type of the module that owns the route; nil when no module owns the route.
    public var module: String? { self.storage.module }

    /// Returns the error with the given route and module, unless the error already has a route.
    package func at(route: String?, module: String?) -> RoutingError {
        guard self.route == nil, route != nil || module != nil else { return self }
        return RoutingError(self, route: route, module: module)
    }

    /// The description of the failure, in one sentence for people.
    public var message: String { self.storage.message }

    /// The underlying error, such as the error that a handler threw.
    public var cause: (any Error)? { self.storage.cause }

    /// The first failure: the last `RoutingError` in the chain of causes.
    ///
    /// If the cause of this error is not a `RoutingError`, the first failure is this error.
    ///
    /// When handlers forward messages, each level between the caller and the failure adds an error with the
    /// code ``Code/handlerFailed``. This property skips these errors:
    ///
    /// ```swift
    /// do throws(RoutingError) {
    ///     try await bus.route("app://orders/place")
    /// } catch where error.rootCause.code == .noRoute {
    ///     print("\(error.rootCause.url) leads nowhere")
    /// }
    /// ```
    ///
    /// An error of another type ends the chain. It is the ``cause`` of the returned error.
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
