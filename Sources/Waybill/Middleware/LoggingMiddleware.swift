public import Logging
internal import WaybillRouting

/// Writes each delivery into a log: when it starts, if that is asked for, and how it ended after what time.
///
/// ```swift
/// bus.use(LoggingMiddleware(level: .info))
/// ```
///
/// Entries carry the message's ID, its URL, and its pattern, and at the end the duration and the code of the
/// failure. Values are not logged: they may be large, or secret. URLs are, with their queries, in one line
/// and cut at 200 characters (``SafeText``).
public struct LoggingMiddleware: Middleware {
    private let logger: Logger?
    private let level: Logger.Level
    private let failureLevel: Logger.Level
    private let startLevel: Logger.Level?

    /// Makes a middleware that logs.
    ///
    /// - Parameters:
    ///   - logger: where to; nil for the logger of the bus.
    ///   - level: the level of a delivery that ended with a reply.
    ///   - failureLevel: the level of one that did not.
    ///   - startLevel: the level of a delivery that begins; nil to leave beginnings out.
    public init(
        logger: Logger? = nil,
        level: Logger.Level = .debug,
        failureLevel: Logger.Level = .notice,
        startLevel: Logger.Level? = nil
    ) {
        self.logger = logger
        self.level = level
        self.failureLevel = failureLevel
        self.startLevel = startLevel
    }

    /// Logs how a delivery ends, and that it begins if that is asked for.
    public nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        let logger = self.logger ?? context.logger
        if let startLevel {
            logger.log(level: startLevel, "delivering", metadata: self.metadata(message, context))
        }
        let start = ContinuousClock.now
        do throws(RoutingError) {
            let value = try await next.attempt(message)
            if logger.logLevel <= self.level {
                var metadata = self.metadata(message, context)
                metadata["duration"] = "\(ContinuousClock.now - start)"
                logger.log(level: self.level, "replied", metadata: metadata)
            }
            return value
        } catch {
            if logger.logLevel <= self.failureLevel {
                var metadata = self.metadata(message, context)
                metadata["duration"] = "\(ContinuousClock.now - start)"
                metadata["code"] = "\(error.code)"
                metadata["error"] = "\(error)"
                logger.log(level: self.failureLevel, "failed", metadata: metadata)
            }
            throw error
        }
    }

    private func metadata(_ message: Message, _ context: borrowing MiddlewareContext) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "id": "\(message.id)", "url": "\(message.parameters.url.onShortLine)",
        ]
        if let pattern = context.pattern { metadata["pattern"] = "\(pattern.onShortLine)" }
        return metadata
    }
}
