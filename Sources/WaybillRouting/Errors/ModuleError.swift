/// An error that a module declares for its callers.
///
/// An error that a handler throws is hidden from other processes, since it may tell about the inside of the
/// program: a caller behind HTTP, a socket or NATS learns only that the handler failed. An error of this
/// protocol crosses: its code, its sentence, its status and the value itself.
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
/// A caller in Swift gets the value back, wherever the handler runs:
///
/// ```swift
/// do {
///     try await bus.route("app://orders/ship?id=99")
/// } catch {
///     if case .unknown(let id) = error.declared(as: OrderError.self) { print("no order \(id)") }
/// }
/// ```
///
/// Over HTTP it is a problem with the status; in JSON-RPC it is in the `data` of the error. A route whose method
/// says `throws(OrderError)` has the error in its OpenAPI and AsyncAPI documents.
public protocol ModuleError: Error, Codable {
    /// The name of the type for other processes, by default the type's name.
    ///
    /// Two programs mean the same error by the same name.
    static var name: String { get }

    /// One value of each kind, for documents; none by default, and all cases of a `CaseIterable` type.
    static var examples: [Self] { get }

    /// The kind of the error, for programs; by default the name of the case.
    var code: String { get }

    /// One sentence for people: the problem and, when it is known, the remedy.
    var message: String { get }

    /// The status over HTTP, from 400 to 599; 422 by default.
    var status: Int { get }
}

extension ModuleError {
    /// The name of the type, without its module.
    public static var name: String { TypeName.of(Self.self) }

    /// No examples.
    public static var examples: [Self] { [] }

    /// The name of the case; for a type that is not an enumeration, the name of the type.
    public var code: String {
        let mirror = Mirror(reflecting: self)
        guard mirror.displayStyle == .enum else { return Self.name }
        // A case with values is a child of its enumeration, and a case without them describes itself.
        return mirror.children.first?.label ?? "\(self)"
    }

    /// 422: the request is understood, and cannot be done.
    public var status: Int { 422 }
}

extension ModuleError where Self: CaseIterable {
    /// All cases.
    public static var examples: [Self] { Array(self.allCases) }
}

/// A declared error that came from another process, and is decoded when its type is known.
package protocol EncodedModuleError: Error {
    /// The name of the error's type.
    var name: String { get }
    /// The code of the error.
    var code: String { get }

    /// Decodes the error; nil when the value is not of the type.
    func decoded<Failure: ModuleError>(as type: Failure.Type) -> Failure?
}

extension RoutingError {
    /// The error that the handler threw, when it is one that its module declares.
    ///
    /// - Parameter type: The type of the error.
    /// - Returns: The error, decoded when it came from another process; nil for any other error.
    public func declared<Failure: ModuleError>(as type: Failure.Type) -> Failure? {
        if let failure = self.cause as? Failure { return failure }
        guard let encoded = self.cause as? any EncodedModuleError, encoded.name == Failure.name else {
            return nil
        }
        return encoded.decoded(as: type)
    }

    /// The code of the error that the handler threw, when it is one that its module declares: `unknown`.
    public var declaredCode: String? {
        (self.cause as? any ModuleError)?.code ?? (self.cause as? any EncodedModuleError)?.code
    }
}
