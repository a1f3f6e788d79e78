public import Waybill
internal import WaybillRouting

/// The parts of a routed URL and the passed parameters, as FTRouter gives them to its destinations.
///
/// ```swift
/// try bus.register("ft://market/detail") { message in
///     let components = FTRouterComponents(message)
///     print(components.path, components.transition ?? "", components.values)
/// }
/// ```
///
/// Use it in handlers of arbitrary URLs, such as the uncaught handler. A handler with known parameters reads
/// them with `message.parameters`, or with `message.decode(_:)` for a type with properties.
public struct FTRouterComponents: Sendable {
    /// The scheme, in lower case.
    public let scheme: String

    /// The host, if it is not part of the path.
    ///
    /// By the bus's conventions, this is a host with a dot, or any host.
    public let host: String?

    /// The path, decoded, without host, transition and slashes around it.
    public var path: String { self.segments.joined(separator: "/") }

    /// The parts of the path.
    public let segments: [String]

    /// The transition, in lower case: a first segment `push`, `present`, `back` or `root`.
    public let transition: String?

    /// The values of the query.
    public let query: [String: String]

    /// The URL in the fragment, which gets the value of the reply, with its scheme; nil for a message that
    /// has been replied to.
    public let followedURL: String?

    /// The name of the destination; nil if the URL leads nowhere, or ``init(_:destination:)`` got none.
    public let destination: String?

    /// The parameters that the caller passed separately from the URL.
    public let parameters: [String: any Sendable]

    /// The values of the URL and of the call as one; a passed value wins.
    public var values: [String: any Sendable] {
        (self.query as [String: any Sendable]).merging(self.parameters) { _, passed in passed }
    }

    /// Reads the parts of a message.
    ///
    /// - Parameters:
    ///   - message: A message on a bus with the conventions `.ftRouter`, or any other; without a host apart
    ///     and leading verbs the first two are segments.
    ///   - destination: The name of the destination: `context.pattern` in a middleware,
    ///     `request.destinationName` in the global handler of a navigator.
    public init(_ message: Message, destination: String? = nil) {
        let address = message.address
        self.scheme = address.scheme
        self.host = address.host
        self.segments = address.segments
        self.transition = message.transition?.rawValue
        self.query = message.parameters.query
        self.followedURL = message.returnURL
        self.destination = destination
        self.parameters = message.parameters.call
    }
}
