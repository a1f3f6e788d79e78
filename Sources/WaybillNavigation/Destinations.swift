public import Waybill
internal import WaybillEventLoop
public import WaybillRouting

/// A destination that the navigator can show again with new parameters, instead of making a second
/// destination.
///
/// A request reuses the topmost destination that was registered for the same pattern and conforms to this
/// protocol. The navigator removes the destinations above the reused destination.
public protocol ReusableDestination: Sendable {
    /// Returns the destination for another request: the same object with a change, or a new value.
    ///
    /// If the presenter then fails, the navigator calls this method once more with the previous request, to
    /// restore the previous parameters.
    ///
    /// - Parameter request: The new request.
    /// - Returns: The destination to show from now on.
    /// - Throws: The reason why the destination cannot be reused for this request. The request fails with
    ///   this error.
    nonisolated(nonsending) func reused(for request: NavigationRequest) async throws -> Self
}

extension ReusableDestination where Self: Decodable {
    /// Returns a new value, decoded from the request's parameters.
    public nonisolated(nonsending) func reused(for request: NavigationRequest) async throws -> Self {
        try request.decode()
    }
}

extension Navigator {
    /// Registers a destination that a closure creates.
    ///
    /// ```swift
    /// import WaybillNavigation
    ///
    /// struct ProductScreen: Sendable { let id: Int }
    ///
    /// func open(_ navigator: Navigator) throws {
    ///     try navigator.register("app://product/:id") { request in
    ///         ProductScreen(id: try request.parameters.require("id"))
    ///     }
    /// }
    /// ```
    ///
    /// A caller that routes the URL receives the destination as the reply's value when the destination is
    /// shown. A caller that listens to progress replies also receives the replies that the destination sends,
    /// and receives the last reply when the destination is removed.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the destination's URLs, without a transition.
    ///   - name: The name for observers and inspectors; nil for the pattern.
    ///   - fileID: The file of the registration, for the text of a `conflict` error.
    ///   - line: The line of the registration, for the text of a `conflict` error.
    ///   - make: A closure that makes the destination, on the navigator's loop.
    /// - Returns: The registration. When the registration is cancelled, destinations that are shown stay.
    /// - Throws: The errors of ``/Waybill/MessageBus/register(_:fileID:line:_:)-7y1wn``.
    @discardableResult
    public nonisolated func register<Destination: Sendable>(
        _ pattern: String,
        named name: String? = nil,
        fileID: String = #fileID,
        line: Int = #line,
        _ make: @escaping @Sendable (NavigationRequest) async throws -> Destination
    ) throws(RoutingError) -> Registration {
        try self.register(
            DestinationFactory(name: name ?? pattern, make: make),
            for: pattern,
            fileID: fileID,
            line: line
        )
    }

    /// Registers a destination type that is decoded from the parameters.
    ///
    /// The parameters are decoded by the names and types of the type's properties.
    ///
    /// ```swift
    /// import WaybillNavigation
    ///
    /// struct ProductScreen: Decodable, Sendable { let id: Int; var tab: String? }
    ///
    /// func open(_ navigator: Navigator) throws {
    ///     try navigator.register("app://product/:id", ProductScreen.self)
    /// }
    /// ```
    ///
    /// Parameters without a property of the same name are ignored. If a parameter is missing or has the wrong
    /// type, the request fails with an error that contains the parameter's name.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the destination's URLs, without a transition.
    ///   - destination: The type of the destination.
    ///   - name: The name for observers and inspectors; nil for the type's name.
    ///   - fileID: The file of the registration, for the text of a `conflict` error.
    ///   - line: The line of the registration, for the text of a `conflict` error.
    /// - Returns: The registration. When the registration is cancelled, destinations that are shown stay.
    /// - Throws: The errors of ``/Waybill/MessageBus/register(_:fileID:line:_:)-7y1wn``.
    @discardableResult
    public nonisolated func register<Destination: Decodable & Sendable>(
        _ pattern: String,
        _ destination: Destination.Type,
        named name: String? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> Registration {
        let factory = DestinationFactory(name: name ?? "\(Destination.self)") { request in
            try request.decode(Destination.self)
        }
        return try self.register(factory, for: pattern, fileID: fileID, line: line)
    }

    /// Registers the destinations of a configuration.
    ///
    /// The configuration replaces an earlier configuration of the same name.
    ///
    /// ```swift
    /// import WaybillNavigation
    ///
    /// struct ProductScreen: Decodable, Sendable { let id: Int }
    ///
    /// func open(_ navigator: Navigator) throws {
    ///     try navigator.load(
    ///         ["app://product/:id": "Product"],
    ///         destinations: ["Product": { try $0.decode(ProductScreen.self) }]
    ///     )
    /// }
    /// ```
    ///
    /// Each destination is shown like a destination that was registered separately under this name. A target
    /// that is an action of a module, or a URL, has the same meaning as in
    /// ``/Waybill/MessageBus/load(_:named:destinations:)``. A configuration that is loaded by this method
    /// replaces a configuration of the same name that was loaded by that method.
    ///
    /// - Parameters:
    ///   - configuration: The patterns, without transitions, and the names of their destinations.
    ///   - name: The name of the configuration. The empty name is a valid name.
    ///   - destinations: The closures that make the destinations, by name.
    /// - Throws: `ConfigurationError` for a pattern that cannot be read or is in conflict.
    public nonisolated func load(
        _ configuration: RouteConfiguration,
        named name: String = "",
        destinations: [String: @Sendable (NavigationRequest) async throws -> any Sendable]
    ) throws(ConfigurationError) {
        let shown = Dictionary(
            uniqueKeysWithValues: destinations.map { name, make -> (String, MessageBus.Destination) in
                let factory = DestinationFactory(name: name, make: make)
                return (name, { message in try await self.handle(message, factory) })
            }
        )
        try self.bus.load(configuration, named: name, destinations: shown)
    }

    nonisolated func register(
        _ factory: DestinationFactory?,
        for pattern: String,
        fileID: String,
        line: Int
    ) throws(RoutingError) -> Registration {
        try self.bus.register(pattern, on: self, fileID: fileID, line: line) { navigator, message in
            try await navigator.handle(message, factory)
        }
    }
}

/// A closure that makes the destinations of one registration, and the name of these destinations.
final class DestinationFactory: Sendable {
    let name: String
    let make: @Sendable (NavigationRequest) async throws -> any Sendable

    init(name: String, make: @escaping @Sendable (NavigationRequest) async throws -> any Sendable) {
        self.name = name
        self.make = make
    }
}

/// A destination that is shown, with its request and its factory.
struct LivingDestination: Sendable {
    var value: any Sendable
    /// The request whose parameters the destination currently has.
    var request: NavigationRequest
    let factory: DestinationFactory
    /// The lifetimes of the requests that made or reused the destination.
    private var lives: [Life] = []

    /// A reference to the lifetime of a request.
    ///
    /// The reference is weak if the request has no return URL: a caller that waits, and code that keeps the
    /// request, own the lifetime. A destination that is reused for ever would otherwise keep all requests.
    private struct Life {
        weak var value: NavigationLife?
        let owned: NavigationLife?
    }

    init(_ value: any Sendable, request: NavigationRequest, factory: DestinationFactory) {
        self.value = value
        self.request = request
        self.factory = factory
    }

    /// Begins the lifetime of the current request, whose destination is shown.
    mutating func beginLife(_ close: @escaping @Sendable () async throws(RoutingError) -> Void) {
        let life = self.request.life
        let hasReturnURL = life.begin(close)
        self.lives.removeAll { $0.value == nil }
        self.lives.append(Life(value: life, owned: hasReturnURL ? life : nil))
    }

    /// Ends the lifetimes of all requests, because the destination has been removed.
    func endLives() { for life in self.lives { life.value?.end() } }

    /// Returns whether a request's URL identifies this destination.
    ///
    /// Scheme, host and path must be equal. The query of the other URL may contain only some of the values in
    /// this destination's query. These values must be equal.
    func isAt(_ other: NavigationRequest) -> Bool {
        let mine = self.request
        let query = mine.query
        return mine.scheme == other.scheme && mine.host == other.host && mine.segments == other.segments
            && other.query.allSatisfy { query[$0.key] == $0.value }
    }
}

/// A message parameter whose presence makes a destination without showing it, to restore a state.
final class Restoration: Sendable {
    static let parameter = "waybill.navigation.restoration"
}
