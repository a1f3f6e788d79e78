extension RoutingError {
    /// An error and its causes, from the error itself to the error that happened first.
    ///
    /// Print the chain when one line is not enough. The chain shows the handlers through which a failure has
    /// passed:
    ///
    /// ```swift
    /// do throws(RoutingError) {
    ///     try await bus.route("app://orders/place")
    /// } catch {
    ///     print(error.chain)
    /// }
    /// ```
    public struct Chain: Sendable, CustomStringConvertible {
        /// The errors; each error is the cause of the previous one.
        public let errors: [any Error]

        fileprivate init(_ error: RoutingError) {
            var errors: [any Error] = [error]
            while let cause = (errors.last as? RoutingError)?.cause { errors.append(cause) }
            self.errors = errors
        }

        /// The description, with one line for each error, beginning with the error itself.
        public var description: String {
            self.errors.map { error in
                (error as? RoutingError)?.ownLine
                    ?? SafeText.line("\(error)", limit: RoutingError.maximumLength)
            }.joined(separator: "\n  caused by ")
        }
    }

    /// The error and its causes.
    ///
    /// The description of the chain has one line for each error.
    ///
    /// ``description`` is one line and contains only the root cause.
    public var chain: Chain { Chain(self) }

    /// The error that ``description`` shows as the cause.
    ///
    /// It is the ``rootCause`` if the ``cause`` of this error is a `RoutingError`, and otherwise the
    /// ``cause``.
    package var shownCause: (any Error)? { self.cause is RoutingError ? self.rootCause : self.cause }

    /// The line for this error, without its causes.
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
    /// ``chain`` contains the causes between the error and its root cause. ``SafeText`` escapes the
    /// characters that would break the line, and shortens long parts.
    public var description: String {
        guard let cause = self.shownCause else { return self.ownLine }
        let isDeep = (self.cause as? RoutingError)?.cause is RoutingError
        let text = SafeText.line("\(cause)", limit: Self.maximumLength)
        return "\(self.ownLine) (\(isDeep ? "root cause" : "cause"): \(text))"
    }
}
