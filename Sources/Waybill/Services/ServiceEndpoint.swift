internal import WaybillEventLoop
internal import WaybillRouting

/// Where the messages of a service's proxy go: a bus, and the URL that its methods are below.
///
/// ``MessageBus/service(_:named:timeout:)`` makes one for the proxy that it returns. Make one yourself for a
/// service that no module of this process provides:
///
/// ```swift
/// let endpoint = ServiceEndpoint(bus: bus, url: "nats://time", timeout: .seconds(2))
/// ```
public struct ServiceEndpoint: Sendable {
    /// The bus that carries the messages.
    public let bus: MessageBus

    /// The URL that the methods are below.
    public let url: String

    /// How long a call may take; nil for as long as its caller may.
    public let timeout: Duration?

    /// Makes an endpoint.
    ///
    /// - Parameters:
    ///   - bus: the bus that carries the messages.
    ///   - url: the URL that the methods are below.
    ///   - timeout: how long a call may take; nil for as long as its caller may.
    public init(bus: MessageBus, url: String, timeout: Duration? = nil) {
        self.bus = bus
        self.url = url
        self.timeout = timeout
    }

    /// Calls a method by a message.
    ///
    /// - Parameters:
    ///   - action: the method's name.
    ///   - parameters: what it is called with, by name; what is nil is left out.
    ///   - as: the type of what it returns.
    /// - Returns: what the provider returned.
    /// - Throws: what the provider threw, or the `RoutingError` that says why there is no answer. An error
    ///   about another message of the provider's stays inside of its `handlerFailed`.
    public nonisolated(nonsending) func call<Value: Sendable>(
        _ action: String,
        _ parameters: [String: (any Sendable)?],
        as: Value.Type
    ) async throws -> Value {
        do throws(RoutingError) {
            return try await self.bus.route(
                "\(self.url)/\(Address.encode(action))",
                parameters: parameters.compactMapValues(\.self),
                timeout: self.timeout,
                as: Value.self
            )
        } catch {
            if error.code == .handlerFailed, let cause = error.cause, !(cause is RoutingError) { throw cause }
            throw error
        }
    }

    /// Calls a method by a message, whose result has a type that `@Service` has written down.
    ///
    /// - Parameters:
    ///   - action: the method's name.
    ///   - parameters: what it is called with, by name; what is nil is left out.
    ///   - reply: says the type of what it returns.
    /// - Returns: what the provider returned.
    /// - Throws: what `call(_:_:as:)` throws.
    @inlinable
    public nonisolated(nonsending) func call<Reply: ServiceReply>(
        _ action: String,
        _ parameters: [String: (any Sendable)?],
        reply: Reply.Type
    ) async throws -> Reply.Value {
        try await self.call(action, parameters, as: Reply.Value.self)
    }
}

/// The type of what a service's method returns.
///
/// `@Service` writes one for each method whose result is not plainly `Sendable`, and uses it in the proxy and
/// in the routes of the providers. If the type is not `Sendable`, this is the one place where the compiler
/// says so.
public protocol ServiceReply {
    /// What the method returns.
    associatedtype Value: Sendable
}
