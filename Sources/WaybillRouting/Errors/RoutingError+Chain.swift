extension RoutingError {
    /// An error and its causes, from the error itself to the one that happened first.
    ///
    /// Print it where one line is not enough, to see through which handlers a failure has come:
    ///
    /// ```swift
    /// do throws(RoutingError) {
    ///     try await bus.route("app://orders/place")
    /// } catch {
    ///     print(error.chain)
    /// }
    /// ```
    public struct Chain: Sendable, CustomStringConvertible {
        /// The errors; each is the cause of the one before.
        public let errors: [any Error]

        fileprivate init(_ error: RoutingError) {
            var errors: [any Error] = [error]
            while let cause = (errors.last as? RoutingError)?.cause { errors.append(cause) }
            self.errors = errors
        }

        /// A line for each error, the error itself first.
        public var description: String {
            self.errors.map { error in
                (error as? RoutingError)?.ownLine
                    ?? SafeText.line("\(error)", limit: RoutingError.maximumLength)
            }.joined(separator: "\n  caused by ")
        }
    }

    /// The error and its causes, which print with a line for each.
    ///
    /// ``description`` is one line, and has only the root cause.
    public var chain: Chain { Chain(self) }

    /// The error that ``description`` names as the cause: the ``rootCause``, or the ``cause`` of this error if
    /// that is not a `RoutingError`.
    package var shownCause: (any Error)? { self.cause is RoutingError ? self.rootCause : self.cause }

    /// The line without causes.
    private var ownLine: String {
        let url = self.url.isEmpty ? "" : " \(self.url.onShortLine)"
        let context = [self.route, self.module].compactMap(\.self).joined(separator: " of ").onShortLine
        let route = context.isEmpty ? "" : " (\(context))"
        return "\(self.code)\(url)\(route): \(self.message)"
    }
}

extension RoutingError: CustomStringConvertible {
    /// One line for a log: code, URL, route and module, message, and the root cause.
    ///
    /// ``chain`` has the causes between the error and its root cause. The line is built with ``SafeText``:
    /// characters that would break the line are escaped, and long parts are cut.
    public var description: String {
        guard let cause = self.shownCause else { return self.ownLine }
        let isDeep = (self.cause as? RoutingError)?.cause is RoutingError
        let text = SafeText.line("\(cause)", limit: Self.maximumLength)
        return "\(self.ownLine) (\(isDeep ? "root cause" : "cause"): \(text))"
    }
}
