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
    /// Connects schemes to the global handler, or throws `conflict` if another party has connected one.
    ///
    /// After an error, no further scheme is connected.
    nonisolated func connectUncaught(_ schemes: [String]) throws(RoutingError) {
        let own = self.rules.withLock { $0.uncaughtSchemes }
        var added: [String: Registration] = [:]
        do throws(RoutingError) {
            for scheme in schemes {
                let folded = self.bus.configuration.conventions.folded(scheme: scheme)
                let isOwn = own.contains(folded) || added[folded] != nil
                guard isOwn || !self.bus.connectedSchemes.contains(folded) else {
                    throw RoutingError(
                        .conflict,
                        url: "\(scheme):",
                        message: "the scheme `\(folded)` already has a connector, which receives all URLs "
                            + "that no pattern matches: disconnect it first"
                    )
                }
                let registration = try self.bus.connect(scheme, to: UncaughtRequests(navigator: self))
                if !own.contains(folded) { added[folded] = registration }
            }
        } catch {
            for registration in added.values { registration.cancel() }
            throw error
        }
        self.rules.withLock { $0.uncaughtSchemes.formUnion(added.keys) }
    }
}
