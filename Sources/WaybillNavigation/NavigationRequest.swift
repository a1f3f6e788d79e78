public import Waybill
internal import WaybillEventLoop
public import WaybillRouting

/// A request for a destination: the parts of its URL, and the connection to its caller.
///
/// A destination can keep its request and reply for as long as it exists. The caller receives progress
/// replies, each with the request's ``id``, and the last reply when the destination is removed.
///
/// ```swift
/// import WaybillNavigation
///
/// struct Editor: Sendable {
///     let request: NavigationRequest
///
///     func save(_ draft: String) async throws {
///         await self.request.reply(with: draft)
///     }
/// }
/// ```
public struct NavigationRequest: Sendable {
    /// The routed URL, with its transition and fragment.
    public var url: String { self.message.address.text }

    /// The scheme; the default scheme where the URL has none.
    public var scheme: String { self.message.address.scheme }

    /// The host; nil where the conventions take it for the first segment.
    public var host: String? { self.message.address.host }

    /// The path without transition, not decoded.
    public var path: String { self.message.address.path }

    /// The segments of the path, decoded.
    public var segments: [String] { self.message.address.segments }

    /// How the destination is to appear; ``WaybillRouting/RouteTransition/push`` where the URL does not say
    /// it.
    public let transition: RouteTransition

    /// The query values, decoded.
    public var query: [String: String] { self.message.parameters.query }

    /// The text after `#`, which may be a return URL for the result.
    public var fragment: String? { self.message.address.fragment }

    /// The name of the destination; nil if none is registered for the URL.
    public let destinationName: String?

    /// Which presenter shows it.
    public let presenter: NavigationState.PresenterID

    /// The ID that all replies carry.
    public var id: CorrelationID { self.message.id }

    /// The values of path, query and call.
    public var parameters: Parameters { self.message.parameters }

    /// The message of the request, with all its other properties.
    public let message: Message

    /// The header with the name of the presenter.
    ///
    /// Without it, the presenter that changed last shows the destination.
    public static let presenterHeader = "navigation-presenter"

    let life: NavigationLife

    init(
        _ message: Message,
        transition: RouteTransition,
        destinationName: String?,
        presenter: NavigationState.PresenterID,
        life: NavigationLife
    ) {
        self.message = message
        self.transition = transition
        self.destinationName = destinationName
        self.presenter = presenter
        self.life = life
    }

    /// The URL that brings the same destination again, without transition and fragment.
    var location: String { self.message.address.url(with: nil) }

    /// Decodes all parameters as one value, by name and type.
    ///
    /// Names that the type does not have are ignored.
    ///
    /// - Parameter type: The type of the value.
    /// - Returns: The value.
    /// - Throws: The errors of ``Waybill/Message/decode(_:)``, with the name of the parameter.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(RoutingError) -> Value {
        try self.message.decode(type)
    }

    /// Puts the parameters onto a value: a property without a parameter keeps its value.
    ///
    /// ```swift
    /// import WaybillNavigation
    ///
    /// struct DetailScreen: Codable, Sendable { var price = 9.5 }
    ///
    /// func open(_ navigator: Navigator) throws {
    ///     try navigator.register("app://detail") { try $0.decode(onto: DetailScreen()) }
    /// }
    /// ```
    ///
    /// - Parameter value: The value with the defaults, or with the parameters from before.
    /// - Returns: The changed value.
    /// - Throws: The errors of ``Waybill/Message/decode(onto:)``, with the name of the parameter.
    public func decode<Value: Codable>(onto value: Value) throws(RoutingError) -> Value {
        try self.message.decode(onto: value)
    }
}

extension NavigationRequest {
    /// Sends the caller a reply, and waits until the caller has dealt with it.
    ///
    /// - Parameter value: The reply's value.
    /// - Returns: Whether the caller has seen it; false if the caller did not listen for replies, or no
    ///   longer does, and when the destination is gone.
    @discardableResult
    public func reply(with value: some Sendable) async -> Bool {
        guard !self.life.isOver else { return false }
        return await self.message.reply(with: value)
    }

    /// Sends the caller a reply, and waits for the caller's answer.
    ///
    /// - Parameters:
    ///   - value: The value of the reply.
    ///   - expecting: The type of the answer.
    /// - Returns: The answer.
    /// - Throws: `noHandler` if the caller does not listen or the destination is removed, or an error of
    ///   ``Waybill/Message/reply(with:expecting:)``.
    public func reply<Answer: Sendable>(
        with value: some Sendable,
        expecting: Answer.Type
    ) async throws(RoutingError) -> Answer {
        guard !self.life.isOver else {
            throw RoutingError(.noHandler, url: self.url, message: "the destination is gone")
        }
        return try await self.message.reply(with: value, expecting: Answer.self)
    }

    /// Sets the value that the caller and the return URL get when the destination goes; `()` unless it is
    /// set.
    ///
    /// - Parameter result: The value; the last one that was set before the destination goes.
    public func setResult(_ result: some Sendable) { self.life.setResult(result) }

    /// Sets the result and removes the destination.
    ///
    /// If the step that shows the destination is still in progress, the destination is removed after it.
    ///
    /// - Parameter result: The value for the caller and the return URL.
    /// - Throws: The errors of ``Navigator/remove(_:)``. The result stays set.
    public func close(returning result: some Sendable) async throws(RoutingError) {
        self.life.setResult(result)
        try await self.life.close()
    }
}
