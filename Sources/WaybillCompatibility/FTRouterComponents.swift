public import Waybill
internal import WaybillRouting

/// The parts of a routed URL and the caller's parameters, in the form that the FTRouter library passes to its
/// destinations.
///
/// ```swift
/// try bus.register("ft://market/detail") { message in
///     let components = FTRouterComponents(message)
///     print(components.path, components.transition ?? "", components.values)
/// }
/// ```
///
/// Use this type in handlers for arbitrary URLs, for example in the handler for unmatched URLs. A handler
/// that knows its parameters reads the parameters from the message: `message.parameters`, or
/// `message.decode(_:)` for a type with properties.
public struct FTRouterComponents: Sendable {
    /// The scheme, in lower case.
    public let scheme: String

    /// The host; nil if the URL has no host, or if the bus's conventions treat the host as the first segment.
    public let host: String?

    /// The decoded path, without the host, the transition, and leading or trailing slashes.
    public var path: String { self.segments.joined(separator: "/") }

    /// The decoded segments of the path.
    public let segments: [String]

    /// The transition, in lower case.
    ///
    /// The first segment of the URL is a transition if the bus's conventions name it: for FTRouter, `push`,
    /// `present`, `back` or `root`.
    public let transition: String?

    /// The values of the query.
    public let query: [String: String]

    /// The return URL with its scheme; nil if the message has no return URL, or has been replied to.
    ///
    /// The return URL receives the value of the reply.
    public let followedURL: String?

    /// The name of the destination; nil if the URL has no destination, or ``init(_:destination:)`` received
    /// no name.
    public let destination: String?

    /// The parameters that the caller passed in addition to the URL.
    public let parameters: [String: any Sendable]

    /// The query values and the caller's parameters together.
    ///
    /// If both have a value of the same name, the caller's value is used.
    public var values: [String: any Sendable] {
        (self.query as [String: any Sendable]).merging(self.parameters) { _, passed in passed }
    }

    /// Creates the components of a message.
    ///
    /// - Parameters:
    ///   - message: A message on a bus with the conventions `.ftRouter`, or with any other conventions. If
    ///     the conventions treat the host as a segment, `segments` contains the host. If the conventions have
    ///     no transitions, `segments` contains the transition.
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
