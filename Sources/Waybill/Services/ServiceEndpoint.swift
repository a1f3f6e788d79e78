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
    ///   - arguments: what it is called with, by name; what is nil is left out.
    ///   - as: the type of what it returns.
    /// - Returns: what the provider returned.
    /// - Throws: what the provider threw, or the `RoutingError` that says why there is no answer. An error
    ///   about another message of the provider's stays inside of its `handlerFailed`.
    @inlinable
    public nonisolated(nonsending) func call<Value: Sendable>(
        _ action: String,
        _ arguments: ServiceArguments,
        as: Value.Type
    ) async throws -> Value {
        do throws(RoutingError) {
            return try await self.bus.route(
                self.url(of: action),
                parameters: arguments.values,
                timeout: self.timeout,
                as: Value.self
            )
        } catch {
            throw self.error(behind: error)
        }
    }

    /// Calls a method by a message, whose result has a type that `@Service` has written down.
    ///
    /// - Parameters:
    ///   - action: the method's name.
    ///   - arguments: what it is called with, by name; what is nil is left out.
    ///   - reply: says the type of what it returns.
    /// - Returns: what the provider returned.
    /// - Throws: what `call(_:_:as:)` throws.
    @inlinable
    public nonisolated(nonsending) func call<Reply: ServiceReply>(
        _ action: String,
        _ arguments: ServiceArguments,
        reply: Reply.Type
    ) async throws -> Reply.Value {
        try await self.call(action, arguments, as: Reply.Value.self)
    }

    @usableFromInline
    func url(of action: String) -> String {
        let action = Address.encode(action)
        guard self.url.utf8.count &+ action.utf8.count < TextBuffer.capacity else {
            return "\(self.url)/\(action)"
        }
        var text = TextBuffer()
        text.add(self.url)
        text.add(UInt8(ascii: "/"))
        text.add(action)
        return text.text
    }

    /// What a call throws that has failed: the provider's own error, if there is one.
    @usableFromInline
    @inline(never)
    func error(behind error: RoutingError) -> any Error {
        if error.code == .handlerFailed, let cause = error.cause, !(cause is RoutingError) { return cause }
        return error
    }
}

/// What a service's method is called with: its arguments by name, written as a dictionary.
///
/// ```swift
/// let endpoint = ServiceEndpoint(bus: bus, url: "app://time")
/// let noon = try await endpoint.call("time", ["city": "Oslo", "offset": nil], as: String.self)
/// ```
///
/// Anything `Sendable` goes, closures included; what is nil is left out.
public struct ServiceArguments: Sendable, ExpressibleByDictionaryLiteral {
    @usableFromInline let values: [String: any Sendable]

    /// Makes arguments of a literal; of several with one name the last one counts.
    public init(dictionaryLiteral elements: (String, (any Sendable)?)...) {
        var values: [String: any Sendable] = [:]
        values.reserveCapacity(elements.count)
        for (name, value) in elements { if let value { values[name] = value } }
        self.values = values
    }

    /// Makes arguments of a dictionary, where they are not known beforehand.
    public init(_ values: [String: any Sendable]) { self.values = values }
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
