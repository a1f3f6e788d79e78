internal import WaybillEventLoop
public import WaybillRouting

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
    ///   - arguments: what it is called with, by name; what is nil is left out.
    ///   - as: the type of what it returns.
    /// - Returns: what the provider returned.
    /// - Throws: what the provider threw, or the `RoutingError` that says why there is no answer. An error
    ///   about another message of the provider's stays inside of its `handlerFailed`.
    public nonisolated(nonsending) func call<Value: Sendable>(
        _ action: String,
        _ arguments: ServiceArguments,
        as: Value.Type
    ) async throws -> Value {
        try await self.methods(action).call(0, arguments, as: Value.self)
    }

    /// The methods of a service here, for a proxy that calls them often: each call builds no URL.
    ///
    /// - Parameter names: the names of the methods; ``ServiceMethods/call(_:_:as:)`` takes their numbers.
    /// - Returns: the methods.
    public func methods(_ names: String...) -> ServiceMethods {
        ServiceMethods(self, urls: names.map(self.url(of:)))
    }

    private func url(of action: String) -> String { "\(self.url)/\(Address.encode(action))" }
}

/// The methods of a service at an endpoint, each with its URL.
///
/// `@Service` writes proxies that hold them; ``ServiceEndpoint/methods(_:)`` makes them.
public struct ServiceMethods: Sendable {
    @usableFromInline let endpoint: ServiceEndpoint
    @usableFromInline let urls: [String]

    init(_ endpoint: ServiceEndpoint, urls: [String]) {
        self.endpoint = endpoint
        self.urls = urls
    }

    /// Calls a method by a message.
    ///
    /// - Parameters:
    ///   - index: which of the methods.
    ///   - arguments: what it is called with, by name; what is nil is left out.
    ///   - as: the type of what it returns.
    /// - Returns: what the provider returned.
    /// - Throws: what the provider threw, or the `RoutingError` that says why there is no answer. An error
    ///   about another message of the provider's stays inside of its `handlerFailed`.
    @inlinable
    @inline(__always)
    public nonisolated(nonsending) func call<Value: Sendable>(
        _ index: Int,
        _ arguments: ServiceArguments,
        as: Value.Type
    ) async throws -> Value {
        do throws(RoutingError) {
            return try await self.endpoint.bus.route(
                self.urls[index],
                arguments,
                timeout: self.endpoint.timeout,
                as: Value.self
            )
        } catch {
            throw self.error(behind: error)
        }
    }

    /// Calls a method by a message, whose result has a type that `@Service` has written down.
    ///
    /// - Parameters:
    ///   - index: which of the methods.
    ///   - arguments: what it is called with, by name; what is nil is left out.
    ///   - reply: says the type of what it returns.
    /// - Returns: what the provider returned.
    /// - Throws: what ``call(_:_:as:)`` throws.
    @inlinable
    @inline(__always)
    public nonisolated(nonsending) func call<Reply: ServiceReply>(
        _ index: Int,
        _ arguments: ServiceArguments,
        reply: Reply.Type
    ) async throws -> Reply.Value {
        try await self.call(index, arguments, as: Reply.Value.self)
    }

    /// What a call throws that has failed: the provider's own error, if there is one.
    @usableFromInline
    @inline(never)
    func error(behind error: RoutingError) -> any Error {
        if error.code == .handlerFailed, let cause = error.cause, !(cause is RoutingError) { return cause }
        guard error.code == .noRoute, self.urls.contains(error.url) else { return error }
        // Its suggestions are URLs that look like this one, and the caller has written none.
        let message = "no module provides the service at \(self.endpoint.url), or not any more"
        return RoutingError(.noRoute, url: error.url, message: message)
    }
}

/// What a service's method is called with: its arguments by name, written as a dictionary or one by one.
///
/// ```swift
/// let endpoint = ServiceEndpoint(bus: bus, url: "app://time")
/// let noon = try await endpoint.call("time", ["city": "Oslo", "offset": nil], as: String.self)
/// ```
///
/// Anything `Sendable` goes, closures included; what is nil is left out.
public struct ServiceArguments: Sendable, ExpressibleByDictionaryLiteral {
    @usableFromInline let values: PassedValues?

    /// No arguments.
    @inlinable
    public init() { self.init(nil) }

    @inlinable
    init(_ values: PassedValues?) { self.values = values }

    /// Makes arguments of a literal; of several with one name the last one counts.
    public init(dictionaryLiteral elements: (String, (any Sendable)?)...) {
        self = elements.reduce(Self()) { $0.with($1.0, $1.1) }
    }

    /// Makes arguments of a dictionary, where they are not known beforehand.
    public init(_ values: [String: any Sendable]) { self.init(.make(values)) }

    /// Returns the arguments with one more.
    @inlinable
    public func with<Argument: Sendable>(_ name: String, _ value: Argument) -> Self {
        // Inlined, where the type is known, this is no cast.
        if Argument.self == Int.self, let number = value as? Int {
            return Self(PassedValues(name, number: number, over: self.values))
        }
        return Self(PassedValues(name, value, over: self.values))
    }

    /// Returns the arguments with one more, unless it is nil.
    @inlinable
    public func with<Argument: Sendable>(_ name: String, _ value: Argument?) -> Self {
        guard let value else { return self }
        return self.with(name, value)
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
