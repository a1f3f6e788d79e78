public import WaybillRouting

extension RoutingError {
    /// A value that is not of the type that its reader expects.
    ///
    /// - Parameters:
    ///   - url: the message that the value belongs to.
    ///   - wanted: what its reader expects.
    ///   - found: the value; its type is named, and it is not printed.
    ///   - origin: where the value comes from, as a sentence that the value's type completes.
    /// - Returns: the error.
    static func typeMismatch<Value>(
        url: String,
        wanted: Value.Type,
        found: any Sendable,
        origin: String = "the handler returned"
    ) -> Self {
        let message = "expected \(TypeName.of(wanted)), but \(origin) \(TypeName.of(value: found))"
        let reason = EncodedValues.reason(found, isNo: wanted)
        return Self(.typeMismatch, url: url, message: message, cause: reason)
    }

    /// A text that can be no scheme.
    static func noScheme(_ pattern: String) -> Self {
        Self(
            .invalidPattern,
            url: pattern,
            message: "this is not a scheme, which is a letter and then letters, digits, `+`, `-` and `.`"
        )
    }

    static func shutDown(url: String) -> Self {
        Self(.shutDown, url: url, message: "the bus has been shut down")
    }

    /// A peer subscribes to a pattern of which no URL is exposed.
    static func notSubscribable(_ pattern: String) -> Self {
        Self(.noRoute, url: pattern, message: "no URL that is exposed for subscribing matches the pattern")
    }

    /// A URL of a peer with a long run of combining marks, which Swift would take quadratic time to compare.
    static func combiningMarks(_ url: String) -> Self {
        Self(.invalidURL, url: url, message: CombiningMarks.excess)
    }

    static func loopShutDown(url: String) -> Self {
        Self(.shutDown, url: url, message: "the event loop of its handler has been shut down")
    }

    static func cancelled(url: String) -> Self {
        Self(.cancelled, url: url, message: "the caller was cancelled")
    }

    static func deadlineExceeded(url: String) -> Self {
        Self(.deadlineExceeded, url: url, message: "no reply arrived before the deadline")
    }

    static func unregistered(url: String) -> Self {
        Self(.noHandler, url: url, message: "its handler was unregistered while the message waited for it")
    }

    static func notListening(url: String) -> Self {
        Self(
            .noHandler,
            url: url,
            message: "its caller does not listen for progress replies any more"
        )
    }

    /// The error of a progress reply that the caller's closure does not take, or throws at.
    static func progressRefused(_ error: any Error, url: String) -> Self {
        if let error = error as? RoutingError, error.url == url { return error }
        return Self(
            .refused,
            url: url,
            message: "the caller's closure for progress replies threw an error",
            cause: error
        )
    }

    static func mailboxFull(url: String, limit: Int) -> Self {
        Self(
            .mailboxFull,
            url: url,
            message: "\(Self.waiting(limit)) for the module, which is its mailbox's limit"
        )
    }

    static func dropped(url: String, limit: Int) -> Self {
        Self(
            .mailboxFull,
            url: url,
            message:
                "it was dropped for a younger message: more than \(limit) waited, which is its mailbox's limit"
        )
    }

    static func subscriptionFull(url: String, limit: Int) -> Self {
        Self(
            .mailboxFull,
            url: url,
            message: "\(Self.waiting(limit)) to be read by a subscriber, which is its limit"
        )
    }

    private static func waiting(_ count: Int) -> String {
        count == 1 ? "1 message waits" : "\(count) messages wait"
    }

    static func droppedUnread(url: String) -> Self {
        Self(
            .mailboxFull,
            url: url,
            message: "it was dropped for a younger message: its subscriber is too slow"
        )
    }

    static func deadlock(url: String) -> Self {
        Self(
            .deadlock,
            url: url,
            message: "its module is serial and waits for this very message: it is being handled there already"
        )
    }

    static func hopLimitExceeded(url: String, limit: Int) -> Self {
        Self(
            .hopLimitExceeded,
            url: url,
            message:
                "the message was routed on \(limit == 1 ? "once" : "\(limit) times"); do two routes lead to each other?"
        )
    }

    /// What a caller sees when a handler throws.
    ///
    /// An error about this very message passes as it is, a missing parameter for example, and so does one
    /// about no URL, a refusal for example, which gets this one. Anything else is this handler's failure with
    /// the error as its cause, so that "no handler" is never said of a handler that ran and failed.
    static func thrown(_ error: any Error, by message: Message) -> Self {
        let url = message.parameters.url
        if let error = error as? RoutingError, error.isAboutSentMessage {
            return self.failed(by: error, at: url)
        }
        return self.thrown(error, at: url)
    }

    /// Whether a handler that throws it has sent the message that it is about, perhaps to its own URL.
    ///
    /// Such an error names that message's route, or says why it got to none: the handler's own hops were few
    /// enough, and its deadline has not passed.
    private var isAboutSentMessage: Bool {
        if self.route != nil { return true }
        return !self.url.isEmpty && (self.code == .hopLimitExceeded || self.code == .deadlineExceeded)
    }

    /// What a caller sees when the code behind a URL throws that may pass on what others say of the message:
    /// a connector, for example.
    package static func thrown(_ error: any Error, at url: String) -> Self {
        if let error = error as? RoutingError, let own = error.said(about: url) { return own }
        if error is CancellationError, Task.isCancelled { return .cancelled(url: url) }
        return self.failed(by: error, at: url)
    }

    private static func failed(by error: any Error, at url: String) -> Self {
        Self(.handlerFailed, url: url, message: self.sentence(of: error, by: "its handler"), cause: error)
    }

    /// The error, if it is about the message of a URL, or about no URL, and then said to be about this one.
    private func said(about url: String) -> Self? {
        if self.url == url { return self }
        guard self.url.isEmpty else { return nil }
        return Self(self.code, url: url, message: self.message, cause: self.cause)
    }

    /// The error of a message whose middleware throws an error, or lets it through.
    ///
    /// An error about this message passes, and one about no URL is said to be about this message's. Anything
    /// else is a failure of the middleware, with the error as its cause.
    static func thrown(_ error: any Error, around message: Message) -> Self {
        let url = message.parameters.url
        if let error = error as? RoutingError, let own = error.said(about: url) { return own }
        if error is CancellationError, Task.isCancelled { return .cancelled(url: url) }
        return Self(
            .handlerFailed,
            url: url,
            message: self.sentence(of: error, by: "a middleware"),
            cause: error
        )
    }

    /// The sentence of an error that a module declares for its callers; for another error that it was thrown.
    private static func sentence(of error: any Error, by thrower: String) -> String {
        (error as? any ModuleError)?.message ?? "\(thrower) threw an error"
    }
}

// Where an error is about a message that had found its handler, it names the handler's route: the code that
// passes it on knows it.
extension RoutingError {
    /// The error, with the route of a handler.
    func at(_ handler: Handler?) -> RoutingError {
        guard let handler else { return self }
        return self.at(route: handler.pattern, module: handler.module)
    }
}

extension Outcome {
    /// The outcome; a failure with the route of a handler.
    func at(_ handler: Handler?) -> Outcome {
        guard let error = self.failure else { return self }
        return .failed(error.at(handler))
    }
}

extension Handler {
    /// The type of the module that it belongs to, if it belongs to one.
    var module: String? { self.routeDescription?.module ?? self.mailbox.module }
}

extension RoutingError {
    /// The error of a middleware or a connector that refuses a message.
    ///
    /// ```swift
    /// guard message.headers["user"] != nil else { throw RoutingError.refused("no user is signed in") }
    /// ```
    ///
    /// - Parameters:
    ///   - message: why not, in one sentence for a person.
    ///   - cause: the error underneath, if another one led to this.
    /// - Returns: the error, which gets the message's URL on its way to the caller.
    public static func refused(_ message: String, cause: (any Error)? = nil) -> Self {
        Self(.refused, message: message, cause: cause)
    }
}
