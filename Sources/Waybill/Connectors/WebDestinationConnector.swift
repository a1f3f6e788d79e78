public import WaybillRouting

/// Opens the URLs of a scheme, http and https as a rule, with a web destination: code, or a route, that shows the
/// page.
///
/// ```swift
/// try bus.connect("https", to: WebDestinationConnector { message in await browser.open(message.address.text) })
/// try bus.connect("http", to: WebDestinationConnector(opening: "app://browser/page", on: bus))
/// ```
///
/// Nothing is fetched: that is what `WebConnector` of the product `WaybillWeb` does. Connect one without a
/// destination where a program has none yet, so that its error says so: `noHandler`.
///
/// The idea is LiliCode's Router's, whose connector for http has the class of a web page's controller.
public struct WebDestinationConnector: Connector {
    /// Code that opens the URL of a message.
    public typealias Destination = @Sendable (Message) async throws -> any Sendable

    private let destination: Destination?

    /// Makes a connector.
    ///
    /// - Parameter destination: opens the URL of a message, `message.address.text`, and returns what the caller
    ///   gets; nil if none is configured.
    public init(_ destination: Destination? = nil) { self.destination = destination }

    /// Makes a connector that routes to a URL of a bus.
    ///
    /// - Parameters:
    ///   - url: the URL of the web destination; the page's URL is passed as the parameter `url`, beside what its
    ///     caller passes.
    ///   - bus: the bus of that URL, which the connector does not keep.
    public init(opening url: String, on bus: MessageBus) {
        self.init { [weak bus] message in
            guard let bus else { throw RoutingError.shutDown(url: url) }
            var parameters = message.parameters.call
            parameters["url"] = message.address.text
            return try await bus.route(url, parameters: parameters, headers: message.headers).value
        }
    }

    /// Opens the URL of a message.
    public nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
        guard let destination = self.destination else {
            throw RoutingError(
                .noHandler,
                url: message.address.text,
                message: "no web destination is configured that would open \(message.address.scheme) URLs"
            )
        }
        return try await destination(message)
    }

    /// Whether there is a web destination.
    public func canRoute(_ address: Address) -> Bool { self.destination != nil }
}
