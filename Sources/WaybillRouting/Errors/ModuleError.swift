/// An error that a module declares for its callers.
///
/// An error that a handler throws is normally hidden from other processes, because it may reveal the
/// internals of the program. A caller over HTTP, a socket or NATS learns only that the handler failed. An
/// error that conforms to this protocol is transferred: its code, its message, its status and the value
/// itself.
///
/// ```swift
/// enum OrderError: ModuleError {
///     case unknown(id: Int)
///     case closed
///
///     var message: String {
///         switch self {
///         case .unknown(let id): "there is no order \(id)"
///         case .closed: "the shop is closed"
///         }
///     }
///
///     var status: Int { if case .unknown = self { 404 } else { 409 } }
/// }
/// ```
///
/// A caller in Swift receives the value, wherever the handler runs:
///
/// ```swift
/// do {
///     try await bus.route("app://orders/ship?id=99")
/// } catch {
///     if case .unknown(let id) = error.declared(as: OrderError.self) { print("no order \(id)") }
/// }
/// ```
///
/// Over HTTP, the error is a problem document with the status. In JSON-RPC, the error is in the `data` of the
/// error object. If a route's method declares `throws(OrderError)`, the OpenAPI and AsyncAPI documents of the
/// route contain the error.
public protocol ModuleError: Error, Codable {
    /// The name of the type in other processes; by default the name of the Swift type.
    ///
    /// Two programs must use the same name for the same error.
    static var name: String { get }

    /// Examples for documents, one for each kind of error.
    ///
    /// The list is empty by default, and contains all cases for a `CaseIterable` type.
    static var examples: [Self] { get }

    /// The kind of the error, for programs; by default the name of the case.
    var code: String { get }

    /// The description of the error in one sentence for people: the problem and, if known, the remedy.
    var message: String { get }

    /// The HTTP status, from 400 to 599; 422 by default.
    var status: Int { get }
}

extension ModuleError {
    /// The name of the type, without its module.
    public static var name: String { TypeName.of(Self.self) }

    /// An empty list.
    public static var examples: [Self] { [] }

    /// The name of the case; for a type that is not an enumeration, the name of the type.
    public var code: String {
        let mirror = Mirror(reflecting: self)
        guard mirror.displayStyle == .enum else { return Self.name }
        // A case with values is a child in the mirror of its enumeration; a case without values has no child.
        return mirror.children.first?.label ?? "\(self)"
    }

    /// The status 422: the server understands the request, but cannot process it.
    public var status: Int { 422 }
}

extension ModuleError where Self: CaseIterable {
    /// All cases of the type.
    public static var examples: [Self] { Array(self.allCases) }
}

/// A declared error that another process has sent.
///
/// The error is decoded when a reader asks for its type.
package protocol EncodedModuleError: Error {
    /// The name of the error's type.
    var name: String { get }
    /// The code of the error.
    var code: String { get }

    /// Decodes the error.
    ///
    /// Returns nil when the value is not of the type.
    func decoded<Failure: ModuleError>(as type: Failure.Type) -> Failure?
}

extension RoutingError {
    /// Returns the error that the handler threw, if its module declares that error.
    ///
    /// - Parameter type: The type of the error.
    /// - Returns: The error, decoded if it came from another process; nil for any other error.
    public func declared<Failure: ModuleError>(as type: Failure.Type) -> Failure? {
        if let failure = self.cause as? Failure { return failure }
        guard let encoded = self.cause as? any EncodedModuleError, encoded.name == Failure.name else {
            return nil
        }
        return encoded.decoded(as: type)
    }

    /// The code of the error that the handler threw, such as `unknown`; nil if its module does not declare
    /// that error.
    public var declaredCode: String? {
        (self.cause as? any ModuleError)?.code ?? (self.cause as? any EncodedModuleError)?.code
    }
}
