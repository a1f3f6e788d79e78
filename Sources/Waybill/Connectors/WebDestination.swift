public import WaybillRouting

/// Opens http and https URLs in what the program has for them: a browser, a web view, a list of links.
///
/// ```swift
/// try bus.register("app://browser/open") { message -> String in
///     "opened \(try message.argument("url") as String)"
/// }
/// try bus.connect("https", to: WebDestination("app://browser/open", on: bus))
/// let text: String = try await bus.route("https://example.com/help#faq")
/// ```
///
/// The destination gets the whole URL, and its reply is the caller's. Without a destination every URL is
/// `noHandler`, which says what is missing. To fetch what lies behind a URL is another connector's, the
/// `WebConnector` of `WaybillWeb`.
///
/// A fragment without a scheme is a place in a web page here, and no return URL.
///
/// The idea is LiliCode's Router's.
public struct WebDestination: Connector {
    private let open: (@Sendable (Message) async throws -> any Sendable)?

    /// Makes a connector that routes to a destination.
    ///
    /// - Parameters:
    ///   - url: where to, on the same bus; nil if there is no destination. A message to it has the parameter
    ///     `url`, and what the caller passed beside; its headers and its deadline are those of the message.
    ///   - bus: the bus; the connector does not keep it open.
    public init(_ url: String?, on bus: MessageBus) {
        guard let url else {
            self.open = nil
            return
        }
        self.open = { [weak bus] message in
            guard let bus else { throw RoutingError(.shutDown, message: "the bus is gone") }
            let parameters = message.parameters.call.merging(["url": message.address.text]) { $1 }
            let reply = try await bus.route(
                url,
                parameters: parameters,
                headers: message.headers,
                deadline: message.deadline
            )
            return reply.content
        }
    }

    /// Makes a connector whose destination is a closure.
    ///
    /// - Parameter open: gets the message, whose URL is `message.address.text`; runs on the bus's loop.
    public init<Value: Sendable>(
        _ open: @escaping @Sendable (Message) async throws -> Value
    ) {
        self.open = { message in try await open(message) }
    }

    /// Has the destination open the URL.
    public nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
        if message.address.fragmentIsPlace { message.declineReturn() }
        guard let open else {
            throw RoutingError(
                .noHandler,
                url: message.address.text,
                message: "no web destination is configured; connect `\(message.address.scheme)` to "
                    + "WebDestination(\"app://browser/open\", on: bus), or to WaybillWeb's WebConnector"
            )
        }
        return try await open(message)
    }

    /// Whether there is a destination.
    public func canRoute(_ address: Address) -> Bool { self.open != nil }
}

extension Address {
    /// Whether the fragment is a place in a web page, since it names no scheme.
    package var fragmentIsPlace: Bool {
        guard let fragment = self.fragment else { return false }
        return (try? Address(fragment))?.hasScheme != true
    }
}
