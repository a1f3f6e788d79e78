internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// A connector that passes a scheme's unmatched URLs to the global handler of a navigator.
///
/// A pattern cannot match these URLs in every convention, because conventions without placeholders treat `**`
/// as literal text.
struct UncaughtRequests: Connector {
    let navigator: Navigator

    nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
        try await self.navigator.handle(message, nil)
    }
}

extension Navigator {
    /// Connects a scheme to the global handler, or throws `conflict` if another party has connected it.
    nonisolated func connectUncaught(_ schemes: [String]) throws(RoutingError) {
        var registrations: [Registration] = []
        do throws(RoutingError) {
            for scheme in schemes { registrations += [try self.connectUncaught(scheme)].compactMap(\.self) }
        } catch {
            for registration in registrations { registration.cancel() }
            throw error
        }
        let folded = schemes.map { self.bus.configuration.conventions.folded(scheme: $0) }
        self.rules.withLock { $0.uncaughtSchemes.formUnion(folded) }
    }

    /// Connects a scheme; returns nil if the navigator has connected it before.
    private nonisolated func connectUncaught(_ scheme: String) throws(RoutingError) -> Registration? {
        let folded = self.bus.configuration.conventions.folded(scheme: scheme)
        let isOwn = self.rules.withLock { $0.uncaughtSchemes.contains(folded) }
        guard isOwn || !self.bus.connectedSchemes.contains(folded) else {
            throw RoutingError(
                .conflict,
                url: "\(scheme):",
                message: "the scheme `\(folded)` already has a connector, which receives all URLs that no "
                    + "pattern matches: disconnect it first"
            )
        }
        let registration = try self.bus.connect(scheme, to: UncaughtRequests(navigator: self))
        return isOwn ? nil : registration
    }
}
