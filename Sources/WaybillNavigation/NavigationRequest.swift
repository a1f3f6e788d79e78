public import Waybill
internal import WaybillEventLoop
public import WaybillRouting

/// A caller's request to show or remove destinations, with the parts of its URL.
///
/// A destination is made from a request. While the destination is shown, it can use the request to reply to
/// the caller. The caller receives progress replies, each with the request's ``id``, and receives the last
/// reply when the destination is removed.
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
    /// The URL that was routed, with its transition and fragment.
    public var url: String { self.message.address.text }

    /// The scheme; the default scheme if the URL has none.
    public var scheme: String { self.message.address.scheme }

    /// The host; nil if the URL has no host, or if the conventions treat the host as the first segment.
    public var host: String? { self.message.address.host }

    /// The path without the transition, not decoded.
    public var path: String { self.message.address.path }

    /// The segments of the path, decoded.
    public var segments: [String] { self.message.address.segments }

    /// The transition of the destination; ``/WaybillRouting/RouteTransition/push`` if the URL has none.
    public let transition: RouteTransition

    /// The query values, decoded.
    public var query: [String: String] { self.message.parameters.query }

    /// The text after `#`.
    ///
    /// If the text is a URL, it is the return URL: the result is sent to this URL.
    public var fragment: String? { self.message.address.fragment }

    /// The name of the destination; nil if no destination is registered for the URL.
    public let destinationName: String?

    /// The name of the presenter that shows the destination.
    public let presenter: NavigationState.PresenterID

    /// The ID that all replies to this request have.
    public var id: CorrelationID { self.message.id }

    /// The parameters from the path, the query and the call.
    public var parameters: Parameters { self.message.parameters }

    /// The message that contains the request, for details that the request does not contain.
    public let message: Message

    /// The name of the header that selects the presenter for the destination.
    ///
    /// Without this header, the active presenter shows the destination.
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

    /// The URL that shows the same destination again, without a transition and a fragment.
    var location: String { self.message.address.url(with: nil) }

    /// Decodes all parameters as one value, by the names and types of its properties.
    ///
    /// Parameters without a property of the same name are ignored.
    ///
    /// - Parameter type: The type to decode.
    /// - Returns: The value.
    /// - Throws: The errors of ``/Waybill/Message/decode(_:)``, with the name of the parameter.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(RoutingError) -> Value {
        try self.message.decode(type)
    }

    /// Decodes the parameters into an existing value.
    ///
    /// A property without a parameter keeps the existing value.
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
    /// - Parameter value: The value with the defaults, or with the previous parameters.
    /// - Returns: The changed value.
    /// - Throws: The errors of ``/Waybill/Message/decode(onto:)``, with the name of the parameter.
    public func decode<Value: Codable>(onto value: Value) throws(RoutingError) -> Value {
        try self.message.decode(onto: value)
    }
}

extension NavigationRequest {
    /// Sends a progress reply to the caller, and waits until the caller has handled the reply.
    ///
    /// - Parameter value: The reply's value.
    /// - Returns: Whether the caller has handled the reply; false if the caller does not listen to progress
    ///   replies, or if the destination has been removed.
    @discardableResult
    public func reply(with value: some Sendable) async -> Bool {
        guard !self.life.isOver else { return false }
        return await self.message.reply(with: value)
    }

    /// Sends a progress reply to the caller, and waits for the caller's answer.
    ///
    /// - Parameters:
    ///   - value: The reply's value.
    ///   - expecting: The type of the answer.
    /// - Returns: The answer.
    /// - Throws: `noHandler` if the caller does not listen to progress replies or the destination has been
    ///   removed, and the errors of ``/Waybill/Message/reply(with:expecting:)``.
    public func reply<Answer: Sendable>(
        with value: some Sendable,
        expecting: Answer.Type
    ) async throws(RoutingError) -> Answer {
        guard !self.life.isOver else {
            let message = "the destination was removed, so it cannot send more replies"
            throw RoutingError(.noHandler, url: self.url, message: message)
        }
        return try await self.message.reply(with: value, expecting: Answer.self)
    }

    /// Sets the value that the caller and the return URL receive when the destination is removed.
    ///
    /// The value is `()` if the method is not called.
    ///
    /// - Parameter result: The value. A later call before the removal replaces this value.
    public func setResult(_ result: some Sendable) { self.life.setResult(result) }

    /// Sets the result, and removes the destination.
    ///
    /// If the step that shows the destination is still in progress, the method waits for that step first.
    ///
    /// - Parameter result: The value for the caller and the return URL.
    /// - Throws: The errors of ``Navigator/remove(_:)``. The destination then stays, and so does the result
    ///   that was set.
    public func close(returning result: some Sendable) async throws(RoutingError) {
        self.life.setResult(result)
        try await self.life.close()
    }
}
