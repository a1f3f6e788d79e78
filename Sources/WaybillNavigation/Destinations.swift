public import Waybill
internal import WaybillEventLoop
public import WaybillRouting

/// A destination that can be brought to the front with new parameters instead of being created again.
///
/// A request reuses the topmost destination that was registered for the same pattern, if it conforms to this
/// protocol. The destinations above it are removed.
public protocol ReusableDestination: Sendable {
    /// Returns the destination for another request: the same object after a change, or a new value in its
    /// place.
    ///
    /// If a presenter fails afterwards, the method is called again with the previous request.
    ///
    /// - Parameter request: The new request.
    /// - Returns: The destination to show.
    /// - Throws: The reason why the destination cannot be reused. The request fails with it.
    nonisolated(nonsending) func reused(for request: NavigationRequest) async throws -> Self
}

extension ReusableDestination where Self: Decodable {
    /// A new value of the request's parameters.
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
    /// A caller that routes the URL receives the destination as the value of the reply when it is shown. A
    /// caller that listens for progress replies receives the progress replies of the destination, and the
    /// last reply when the destination is removed.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the URLs, without a transition.
    ///   - name: The name of the destination for observers and inspectors; the pattern if nil.
    ///   - fileID: The file of the registration, for the message of a conflict.
    ///   - line: The line of the registration, for the message of a conflict.
    ///   - make: Creates the destination, on the navigator's loop.
    /// - Returns: The registration. Cancelling it does not remove shown destinations.
    /// - Throws: The errors of ``Waybill/MessageBus/register(_:fileID:line:_:)``.
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

    /// Registers a destination whose properties are the parameters, by name and type.
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
    /// Parameters without a property are ignored. If a parameter is missing or has another type, the request
    /// fails, and the error names the parameter.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the URLs, without a transition.
    ///   - destination: The type of the destination.
    ///   - name: The name of the destination for observers and inspectors; the name of the type if nil.
    ///   - fileID: The file of the registration, for the message of a conflict.
    ///   - line: The line of the registration, for the message of a conflict.
    /// - Returns: The registration. Cancelling it does not remove shown destinations.
    /// - Throws: The errors of ``Waybill/MessageBus/register(_:fileID:line:_:)``.
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

    /// Registers the destinations of a configuration, which replaces the one before with the same name.
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
    /// A destination is shown as if it was registered by itself, under its name. Targets that are actions of
    /// modules, or URLs, lead where they do in ``Waybill/MessageBus/load(_:named:destinations:)``, which
    /// shares the names of configurations.
    ///
    /// - Parameters:
    ///   - configuration: The patterns, without transitions, and the names of their destinations.
    ///   - name: The name of the configuration; the empty name is one as any other.
    ///   - destinations: A closure that makes each destination, by its name.
    /// - Throws: `ConfigurationError`, for a pattern that cannot be read or is in conflict.
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

/// The factory of the destinations of one registration.
final class DestinationFactory: Sendable {
    let name: String
    let make: @Sendable (NavigationRequest) async throws -> any Sendable

    init(name: String, make: @escaping @Sendable (NavigationRequest) async throws -> any Sendable) {
        self.name = name
        self.make = make
    }
}

/// A destination that is shown, as the navigator keeps it.
struct LivingDestination: Sendable {
    var value: any Sendable
    /// The request whose parameters it has.
    var request: NavigationRequest
    let factory: DestinationFactory
    /// The callers that wait for the removal of the destination: the caller that created it, and the callers
    /// that reused it.
    var lives: [NavigationLife]

    init(_ value: any Sendable, request: NavigationRequest, factory: DestinationFactory) {
        self.value = value
        self.request = request
        self.factory = factory
        self.lives = [request.life]
    }

    /// Whether a URL names the destination: by its path, and by those values of the query that the URL has.
    func isAt(_ other: NavigationRequest) -> Bool {
        let mine = self.request
        let query = mine.query
        return mine.scheme == other.scheme && mine.host == other.host && mine.segments == other.segments
            && other.query.allSatisfy { query[$0.key] == $0.value }
    }
}

/// Passed with a message, has the destination made and not shown.
final class Restoration: Sendable {
    static let parameter = "waybill.navigation.restoration"
}
