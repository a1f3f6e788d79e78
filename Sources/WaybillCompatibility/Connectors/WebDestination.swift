public import Waybill
public import WaybillRouting

/// A connector that opens http and https URLs in the program, for example in a browser, a web view or a list
/// of links.
///
/// ```swift
/// try bus.register("app://browser/open") { message -> String in
///     "opened \(try message.argument("url") as String)"
/// }
/// try bus.connect("https", to: WebDestination("app://browser/open", on: bus))
/// let text: String = try await bus.route("https://example.com/help#faq")
/// ```
///
/// The destination receives the whole URL, and the reply of the destination is the caller's reply. Without a
/// destination, every URL fails with a `noHandler` error that describes how to configure the destination.
/// This connector does not fetch URLs; the `WebConnector` of `WaybillWeb` fetches URLs.
///
/// A fragment without a scheme is a position in a web page, and not a return URL.
///
/// The idea comes from the library Router by LiliCode.
public struct WebDestination: Connector {
    private let open: (@Sendable (Message) async throws -> any Sendable)?

    /// Creates a connector that routes to a destination.
    ///
    /// - Parameters:
    ///   - url: The destination on the same bus; nil for no destination. A message to the destination has the
    ///     parameter `url`, the values that the caller passed, and the headers and the deadline of the
    ///     caller's message.
    ///   - bus: The bus. The connector does not keep the bus open.
    public init(_ url: String?, on bus: MessageBus) {
        guard let url else {
            self.open = nil
            return
        }
        // The handle of the caller may end before the bus does, for example the handle of a module.
        let bus = bus.unowned
        self.open = { message in
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

    /// Creates a connector whose destination is a closure.
    ///
    /// - Parameter open: A closure that receives the message and runs on the bus's loop. The URL of the
    ///   message is `message.address.text`.
    public init<Value: Sendable>(
        _ open: @escaping @Sendable (Message) async throws -> Value
    ) {
        self.open = { message in try await open(message) }
    }

    /// Opens the message's URL in the destination.
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

    /// Returns whether a destination is configured.
    public func canRoute(_ address: Address) -> Bool { self.open != nil }
}
