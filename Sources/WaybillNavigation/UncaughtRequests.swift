internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// Carries the URLs of a scheme that no pattern matches to a navigator's global handler.
///
/// It is a connector and not a pattern, because conventions without placeholders read `**` as text.
struct UncaughtRequests: Connector {
    let navigator: Navigator

    nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
        try await self.navigator.handle(message, nil)
    }
}

extension Navigator {
    /// Connects a scheme to the global handler.
    ///
    /// - Throws: `conflict` if the scheme has a connector that is not this navigator's.
    nonisolated func connectUncaught(_ scheme: String) throws(RoutingError) {
        let folded = self.bus.configuration.conventions.folded(scheme: scheme)
        let isOwn = self.rules.withLock { $0.uncaughtSchemes.contains(folded) }
        guard isOwn || !self.bus.connectedSchemes.contains(folded) else {
            throw RoutingError(
                .conflict,
                url: "\(scheme):",
                message:
                    "the scheme `\(folded)` has a connector, which takes the URLs that no pattern matches"
            )
        }
        try self.bus.connect(scheme, to: UncaughtRequests(navigator: self))
        _ = self.rules.withLock { $0.uncaughtSchemes.insert(folded) }
    }
}
