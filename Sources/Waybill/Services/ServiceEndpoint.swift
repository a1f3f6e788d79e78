public import WaybillRouting

/// The destination of the messages that a service proxy sends.
///
/// Create an endpoint yourself for a service that no module of this process provides:
///
/// ```swift
/// let endpoint = ServiceEndpoint(bus: bus, url: "nats://time", timeout: .seconds(2))
/// ```
public struct ServiceEndpoint: Sendable {
    /// The bus that carries the messages.
    public let bus: MessageBus

    /// The base URL of the methods.
    public let url: String

    /// The maximum duration of a call; nil when only the caller's deadline limits the call.
    public let timeout: Duration?

    /// Creates an endpoint.
    public init(bus: MessageBus, url: String, timeout: Duration? = nil) {
        self.bus = bus
        self.url = url
        self.timeout = timeout
    }

    /// Calls a method by routing a message.
    ///
    /// - Parameters:
    ///   - action: The method's name.
    ///   - arguments: The arguments by name. Arguments that are nil are omitted.
    ///   - as: The type of the result.
    /// - Returns: The value that the provider returned.
    /// - Throws: The error that the provider threw, or a `RoutingError` with the reason why there was no
    ///   reply. A `RoutingError` of the provider about another message is the cause of a `handlerFailed`.
    public nonisolated(nonsending) func call<Value: Sendable>(
        _ action: String,
        _ arguments: ServiceArguments,
        as: Value.Type
    ) async throws -> Value {
        try await self.methods(action).call(0, arguments, as: Value.self)
    }

    /// Returns methods of the service, for a proxy that calls the methods often without building their URLs.
    ///
    /// ``ServiceMethods/call(_:_:as:)`` takes the index of a name.
    public func methods(_ names: String...) -> ServiceMethods {
        ServiceMethods(self, urls: names.map { "\(self.url)/\(Address.encode($0))" })
    }
}

/// Methods of a service at an endpoint, and the URL of each method.
///
/// The proxies that `@Service` generates hold this value.
public struct ServiceMethods: Sendable {
    @usableFromInline let endpoint: ServiceEndpoint
    @usableFromInline let urls: [String]

    init(_ endpoint: ServiceEndpoint, urls: [String]) {
        self.endpoint = endpoint
        self.urls = urls
    }

    /// Calls a method by routing a message.
    ///
    /// ``ServiceEndpoint/call(_:_:as:)`` describes the arguments and the errors.
    @inlinable
    @inline(__always)
    public nonisolated(nonsending) func call<Value: Sendable>(
        _ index: Int,
        _ arguments: ServiceArguments,
        as: Value.Type
    ) async throws -> Value {
        do throws(RoutingError) {
            return try await self.endpoint.bus.callService(
                self.urls[index],
                arguments,
                timeout: self.endpoint.timeout,
                as: Value.self
            )
        } catch {
            throw self.error(behind: error)
        }
    }

    /// Calls a method by routing a message, with a result type that `@Service` has declared.
    @inlinable
    @inline(__always)
    public nonisolated(nonsending) func call<Reply: ServiceReply>(
        _ index: Int,
        _ arguments: ServiceArguments,
        reply: Reply.Type
    ) async throws -> Reply.Value {
        try await self.call(index, arguments, as: Reply.Value.self)
    }

    /// Returns the error that a failed call throws: the provider's error if the provider threw one.
    @usableFromInline
    @inline(never)
    func error(behind error: RoutingError) -> any Error {
        if error.code == .handlerFailed, let cause = error.cause, !(cause is RoutingError) { return cause }
        guard error.code == .noRoute, self.urls.contains(error.url) else { return error }
        // The suggestions of the message are URLs that resemble this URL, but the caller has not written a
        // URL.
        let message =
            "no module provides the service at \(self.endpoint.url): it was never installed, or was uninstalled"
        return RoutingError(.noRoute, url: error.url, message: message)
    }
}

/// The arguments of a service's method by name, of any `Sendable` types, including closures.
///
/// ```swift
/// let endpoint = ServiceEndpoint(bus: bus, url: "app://time")
/// let noon = try await endpoint.call("time", ["city": "Oslo", "offset": nil], as: String.self)
/// ```
///
/// Arguments that are nil are omitted.
public struct ServiceArguments: Sendable, ExpressibleByDictionaryLiteral {
    @usableFromInline let values: PassedValues?

    /// Creates an empty list of arguments.
    @inlinable
    public init() { self.init(nil) }

    @inlinable
    init(_ values: PassedValues?) { self.values = values }

    /// Creates arguments from a literal, where the last one of several arguments with one name is used.
    public init(dictionaryLiteral elements: (String, (any Sendable)?)...) {
        self = elements.reduce(Self()) { $0.with($1.0, $1.1) }
    }

    /// Creates arguments from a dictionary, for names that are not known at compile time.
    public init(_ values: [String: any Sendable]) { self.init(.make(values)) }

    /// Returns the arguments with one more argument.
    @inlinable
    public func with<Argument: Sendable>(_ name: String, _ value: Argument) -> Self {
        // The compiler removes this cast when the function is inlined and the type is known.
        if Argument.self == Int.self, let number = value as? Int {
            return Self(PassedValues(name, number: number, over: self.values))
        }
        return Self(PassedValues(name, value, over: self.values))
    }

    /// Returns the arguments with one more argument, or unchanged when the value is nil.
    @inlinable
    public func with<Argument: Sendable>(_ name: String, _ value: Argument?) -> Self {
        guard let value else { return self }
        return self.with(name, value)
    }
}

/// The result type of a service's method.
///
/// `@Service` generates a conforming type for each method whose result type is not obviously `Sendable`. If
/// the result type is not `Sendable`, the compiler reports the error only at the conforming type.
public protocol ServiceReply {
    /// The type of the method's result.
    associatedtype Value: Sendable
}
