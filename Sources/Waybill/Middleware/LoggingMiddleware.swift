public import Logging
internal import WaybillRouting

/// A middleware that logs the end of each delivery, and the start if a start level is given.
///
/// ```swift
/// bus.use(LoggingMiddleware(level: .info))
/// ```
///
/// An entry contains the message's ID, URL and pattern. An entry for the end also contains the duration and
/// the code of a failure. Values are not logged, because they may be large or secret. URLs are logged with
/// their queries, on one line and truncated to 200 characters (``/WaybillRouting/SafeText``).
public struct LoggingMiddleware: Middleware {
    private let logger: Logger?
    private let level: Logger.Level
    private let failureLevel: Logger.Level
    private let startLevel: Logger.Level?

    /// Creates a middleware that logs.
    ///
    /// - Parameters:
    ///   - logger: The logger; nil for the logger of the bus.
    ///   - level: The level for the end of a delivery with a reply.
    ///   - failureLevel: The level for the end of a delivery with a failure.
    ///   - startLevel: The level for the start of a delivery; nil to omit starts.
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

    /// Logs the end of a delivery, and the start if a start level is given.
    public nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        let logger = self.logger ?? context.logger
        if let startLevel {
            logger.log(level: startLevel, "delivering", metadata: self.metadata(message, context))
        }
        let start = context.now
        do throws(RoutingError) {
            let value = try await next.attempt(message)
            if logger.logLevel <= self.level {
                var metadata = self.metadata(message, context)
                metadata["duration"] = "\(context.now - start)"
                logger.log(level: self.level, "replied", metadata: metadata)
            }
            return value
        } catch {
            if logger.logLevel <= self.failureLevel {
                var metadata = self.metadata(message, context)
                metadata["duration"] = "\(context.now - start)"
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
