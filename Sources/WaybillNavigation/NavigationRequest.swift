public import Waybill
internal import WaybillEventLoop
public import WaybillRouting

/// What a caller wants to see: the parts of its URL, and the line back to the caller.
///
/// Destinations are made from one, and keep it to reply for as long as they live: the caller gets progress
/// replies, each with the request's ``id``, and the last one when the destination is gone.
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
    /// The URL as it was routed, with its transition and fragment.
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

    /// The text after `#`: where the result goes, if it is a URL.
    public var fragment: String? { self.message.address.fragment }

    /// What the destination is called; nil if none is registered for the URL.
    public let destinationName: String?

    /// Which presenter shows it.
    public let presenter: NavigationState.PresenterID

    /// The ID that all replies carry.
    public var id: CorrelationID { self.message.id }

    /// The values of path, query and call.
    public var parameters: Parameters { self.message.parameters }

    /// The message that brought it, for what is not said here.
    public let message: Message

    /// The header that says which presenter shows the destination; without it, the one that changed last
    /// does.
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

    /// All parameters as one value, by name and type; names that the type does not have are ignored.
    ///
    /// - Parameter type: what the parameters are made into.
    /// - Returns: the value.
    /// - Throws: what ``Waybill/Message/decode(_:)`` throws, with the name of the parameter.
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
    /// - Parameter value: the value with the defaults, or with the parameters from before.
    /// - Returns: the changed value.
    /// - Throws: the errors of ``Waybill/Message/decode(onto:)``, with the name of the parameter.
    public func decode<Value: Codable>(onto value: Value) throws(RoutingError) -> Value {
        try self.message.decode(onto: value)
    }
}

extension NavigationRequest {
    /// Sends the caller a reply, and waits until the caller has dealt with it.
    ///
    /// - Parameter value: the reply's value.
    /// - Returns: whether the caller has seen it; false if the caller did not listen for replies, or no
    ///   longer does, and when the destination is gone.
    @discardableResult
    public func reply(with value: some Sendable) async -> Bool {
        guard !self.life.isOver else { return false }
        return await self.message.reply(with: value)
    }

    /// Sends the caller a reply, and waits for the caller's answer.
    ///
    /// - Parameters:
    ///   - value: the reply's value.
    ///   - expecting: the type of the answer.
    /// - Returns: the answer.
    /// - Throws: `noHandler` if the caller does not listen, or the destination is gone; and what
    ///   ``Waybill/Message/reply(with:expecting:)`` throws.
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
    /// - Parameter result: the value; the last one that was set before the destination goes.
    public func setResult(_ result: some Sendable) { self.life.setResult(result) }

    /// Sets the result, and has the destination taken away; after the step that brings it, if that is still
    /// being taken.
    ///
    /// - Parameter result: what the caller and the return URL get.
    /// - Throws: what ``Navigator/remove(_:)`` throws; the result stays set.
    public func close(returning result: some Sendable) async throws(RoutingError) {
        self.life.setResult(result)
        try await self.life.close()
    }
}
