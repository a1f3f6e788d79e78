public import Waybill
internal import WaybillEventLoop
public import WaybillRouting

/// A destination that is brought to the front, with new parameters, instead of being made once more.
///
/// A request reuses the topmost destination that was registered for the same pattern, if that conforms to
/// this protocol; what is above it goes.
public protocol ReusableDestination: Sendable {
    /// The destination for another request: itself, changed, or a new value in its place.
    ///
    /// When a presenter fails afterwards it is called once more, with the request from before.
    ///
    /// - Parameter request: what is wanted now.
    /// - Returns: what is shown from now on.
    /// - Throws: the reason that it cannot be reused for this request, which fails with it.
    nonisolated(nonsending) func reused(for request: NavigationRequest) async throws -> Self
}

extension ReusableDestination where Self: Decodable {
    /// A new value of the request's parameters.
    public nonisolated(nonsending) func reused(for request: NavigationRequest) async throws -> Self {
        try request.decode()
    }
}

extension Navigator {
    /// Registers a destination that a closure makes.
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
    /// A caller that routes the URL gets the destination as the reply's value, once it is shown; one that
    /// listens for progress replies gets those that the destination sends, and the last reply when it is
    /// gone.
    ///
    /// - Parameters:
    ///   - pattern: what URLs it is for, without a transition.
    ///   - name: what it is called, for observers and inspectors; the pattern if nil.
    ///   - fileID: where it is registered, for the message of a conflict.
    ///   - line: where it is registered, for the message of a conflict.
    ///   - make: makes the destination, on the navigator's loop.
    /// - Returns: what unregisters it; what is shown stays.
    /// - Throws: what ``Waybill/MessageBus/register(_:fileID:line:_:)`` throws.
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
    /// Parameters that the type does not name are ignored; one that is missing or of another type fails the
    /// request with its name.
    ///
    /// - Parameters:
    ///   - pattern: what URLs it is for, without a transition.
    ///   - destination: the type.
    ///   - name: what it is called, for observers and inspectors; the type's name if nil.
    ///   - fileID: where it is registered, for the message of a conflict.
    ///   - line: where it is registered, for the message of a conflict.
    /// - Returns: what unregisters it; what is shown stays.
    /// - Throws: what ``Waybill/MessageBus/register(_:fileID:line:_:)`` throws.
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
    ///   - configuration: the patterns, without transitions, and the names of their destinations.
    ///   - name: the name of the configuration; the empty name is one as any other.
    ///   - destinations: a closure that makes each destination, by its name.
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

/// What makes the destinations of one registration.
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
    /// The callers that wait for its end: of the request that it was made for, and of those that reused it.
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
