extension RoutingError {
    /// Returns the error for a value that does not have the type that its reader expects.
    ///
    /// The error names the type of the value but does not contain the value. The name of the type completes
    /// the sentence that `origin` begins.
    package static func typeMismatch<Value>(
        url: String,
        wanted: Value.Type,
        found: any Sendable,
        origin: String = "the handler returned"
    ) -> Self {
        let message = "expected \(TypeName.of(wanted)), but \(origin) \(TypeName.of(value: found))"
        let reason = EncodedValues.reason(found, isNo: wanted)
        return Self(.typeMismatch, url: url, message: message, cause: reason)
    }

    package static func noScheme(_ pattern: String) -> Self {
        Self(
            .invalidPattern,
            url: pattern,
            message:
                "this is not a URL scheme: a scheme is a letter followed by letters, digits, `+`, `-` and `.`"
        )
    }

    package static func shutDown(url: String) -> Self {
        Self(.shutDown, url: url, message: "the bus has been shut down")
    }

    package static func notSubscribable(_ pattern: String) -> Self {
        Self(
            .noRoute,
            url: pattern,
            message: "the pattern matches no URL that is exposed with `.subscribing`"
        )
    }

    /// Returns the error for a URL from a peer with a long run of combining marks.
    ///
    /// The time that Swift needs to compare such a text grows with the square of the text's length.
    package static func combiningMarks(_ url: String) -> Self {
        Self(.invalidURL, url: url, message: CombiningMarks.excess)
    }

    package static func loopShutDown(url: String) -> Self {
        Self(
            .shutDown,
            url: url,
            message: "the event loop of the handler has been shut down; register the handler on another loop"
        )
    }

    package static func cancelled(url: String) -> Self {
        Self(.cancelled, url: url, message: "the caller was cancelled")
    }

    package static func deadlineExceeded(url: String) -> Self {
        Self(.deadlineExceeded, url: url, message: "no reply arrived before the deadline")
    }

    package static func unregistered(url: String) -> Self {
        Self(
            .noHandler,
            url: url,
            message: "the handler was unregistered while the message waited in the handler's mailbox"
        )
    }

    package static func notListening(url: String) -> Self {
        Self(
            .noHandler,
            url: url,
            message: "the caller does not accept progress replies; return the final reply"
        )
    }

    /// Returns the error for a progress reply when the caller's closure throws or takes another type.
    package static func progressRefused(_ error: any Error, url: String) -> Self {
        if let error = error as? RoutingError, error.url == url { return error }
        return Self(
            .refused,
            url: url,
            message: "the caller's closure for progress replies threw an error",
            cause: error
        )
    }

    package static func mailboxFull(url: String, limit: Int) -> Self {
        Self(
            .mailboxFull,
            url: url,
            message: "the mailbox of the module is full: its limit is \(Self.messages(limit)); try again "
                + "later, or raise the limit"
        )
    }

    package static func dropped(url: String, limit: Int) -> Self {
        Self(
            .mailboxFull,
            url: url,
            message: "dropped for a newer message: the mailbox of the module is full, and its limit is "
                + "\(Self.messages(limit)); send more slowly, or raise the limit"
        )
    }

    package static func subscriptionFull(url: String, limit: Int) -> Self {
        Self(
            .mailboxFull,
            url: url,
            message: "the subscription is full: its limit is \(Self.messages(limit)); read faster, or "
                + "raise the limit"
        )
    }

    private static func messages(_ count: Int) -> String {
        count == 1 ? "1 waiting message" : "\(count) waiting messages"
    }

    package static func droppedUnread(url: String) -> Self {
        Self(
            .mailboxFull,
            url: url,
            message: "dropped for a newer message: the subscriber reads too slowly; read "
                + "faster, or raise the limit of the subscription"
        )
    }

    package static func deadlock(url: String) -> Self {
        Self(
            .deadlock,
            url: url,
            message: "the serial module is already handling a message that awaits this one; send "
                + "this one without awaiting its reply"
        )
    }

    package static func hopLimitExceeded(url: String, limit: Int) -> Self {
        Self(
            .hopLimitExceeded,
            url: url,
            message: "the message was forwarded \(limit == 1 ? "once" : "\(limit) times"), which is the "
                + "limit; check whether two routes forward to each other"
        )
    }

    /// Returns the error that a caller receives when a handler throws.
    ///
    /// An error about this message, for example a missing parameter, is passed on unchanged. An error without
    /// a URL, for example a refusal, gets this message's URL. Any other error becomes the cause of a
    /// `handlerFailed` error. A caller therefore never receives `noHandler` for a handler that ran and
    /// failed.
    package static func thrown(_ error: any Error, byHandlerOf url: String) -> Self {
        if let error = error as? RoutingError, error.isAboutSentMessage {
            return self.failed(by: error, at: url, in: "the handler")
        }
        return self.thrown(error, at: url)
    }

    /// Whether the error is about a message that the handler sent, perhaps to its own URL.
    ///
    /// An error about a sent message contains the route of that message. The codes `hopLimitExceeded` and
    /// `deadlineExceeded` also belong to a sent message, because the handler's own message was within both
    /// limits.
    private var isAboutSentMessage: Bool {
        if self.route != nil { return true }
        return !self.url.isEmpty && (self.code == .hopLimitExceeded || self.code == .deadlineExceeded)
    }

    /// Returns the error that a caller receives when the code behind a URL throws.
    ///
    /// The code, for example a connector, can pass on an error about the message that other code has
    /// reported.
    package static func thrown(_ error: any Error, at url: String) -> Self {
        self.thrown(error, at: url, by: "the handler")
    }

    private static func thrown(_ error: any Error, at url: String, by thrower: String) -> Self {
        if let error = error as? RoutingError, let own = error.attributed(to: url) { return own }
        if error is CancellationError, Task.isCancelled { return .cancelled(url: url) }
        return self.failed(by: error, at: url, in: thrower)
    }

    /// Returns a failure with the message that a module declares for an error, or a general sentence for any
    /// other error.
    private static func failed(by error: any Error, at url: String, in thrower: String) -> Self {
        let message = (error as? any ModuleError)?.message ?? "\(thrower) threw an error"
        return Self(.handlerFailed, url: url, message: message, cause: error)
    }

    /// Returns the error with the given URL, or nil when the error is about another URL.
    private func attributed(to url: String) -> Self? {
        if self.url == url { return self }
        guard self.url.isEmpty else { return nil }
        return Self(self.code, url: url, message: self.message, cause: self.cause)
    }

    /// Returns the error of a message when a middleware throws an error or passes an error on.
    ///
    /// An error about this message is passed on unchanged. An error without a URL gets this message's URL.
    /// Any other error becomes the cause of a `handlerFailed` error.
    package static func thrown(_ error: any Error, around url: String) -> Self {
        self.thrown(error, at: url, by: "a middleware")
    }
}

extension RoutingError {
    /// Returns the error with which a middleware or a connector refuses a message.
    ///
    /// ```swift
    /// guard message.headers["user"] != nil else { throw RoutingError.refused("no user is signed in") }
    /// ```
    ///
    /// - Parameters:
    ///   - message: The reason, in one sentence for a person.
    ///   - cause: The error that led to the refusal, or nil.
    /// - Returns: The error. The bus adds the message's URL before it passes the error to the caller.
    public static func refused(_ message: String, cause: (any Error)? = nil) -> Self {
        Self(.refused, message: message, cause: cause)
    }
}
