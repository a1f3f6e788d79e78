internal import WaybillEventLoop

/// A method of a module that cannot suspend, as code that a service's route may call in place.
///
/// A service's methods are `async throws`, since a message takes time and may fail, but the actor that
/// provides the service need not be: what it declares without `async` is called in place, as a route with
/// such a method is. A protocol does not tell the two apart, so `@Module` writes one of these for each method
/// of the actor's body that may belong to a service:
///
/// ```swift
/// static var services: [ServiceRoutes<ClockModule>] {
///     let city = RouteDescription.Parameter("city", "String", of: String.self)
///     let time = ModuleMethod<ClockModule>("time(in:)", parameters: [city]) {
///         module, message -> String in
///         module.time(in: try message.argument("city") as String)
///     }
///     return serviceRoutes(of: (any TimeService).self, in: ClockModule.self).map { $0.calling([time]) }
/// }
/// ```
public struct ModuleMethod<Module: Waybill.Module>: Sendable {
    private let signature: ServiceSignature
    /// A ``MethodCode`` for the type of what the method returns.
    private let code: any AnyObject & Sendable

    /// Describes a method.
    ///
    /// - Parameters:
    ///   - name: its full name, with the labels of its arguments.
    ///   - parameters: what it reads, with their types.
    ///   - body: calls it, on the module's loop. What it returns need not be `Sendable`: the route of a
    ///     service whose method returns the same type says that it is.
    @inlinable
    public init<Value: ~Copyable>(
        _ name: String,
        parameters: [RouteDescription.Parameter] = [],
        _ body: @escaping @Sendable (isolated Module, Message) throws -> Value
    ) {
        // It is called on the loop of the module's mailbox only, which is the actor's.
        self.init(
            name,
            parameters,
            MethodCode { (module: Module) in unsafe IsolatedBody(body).unisolated(module) }
        )
    }

    @usableFromInline
    init(_ name: String, _ parameters: [RouteDescription.Parameter], _ code: any AnyObject & Sendable) {
        self.signature = ServiceSignature(name, parameters)
        self.code = code
    }

    /// What makes the code for a module, if this is the method with a signature, and returns that type.
    func code<Value: Sendable>(
        of signature: ServiceSignature,
        returning type: Value.Type
    ) -> (@Sendable (Module) -> @Sendable (Message) throws -> Value)? {
        guard self.signature == signature else { return nil }
        return (self.code as? MethodCode<Module, Value>)?.makeBody
    }
}

/// The code of a method, which can be asked whether it returns a type.
///
/// It is made in the program, where both types are known: what is generic would call the method by way of
/// four functions that convert its arguments.
@usableFromInline
final class MethodCode<Module: Waybill.Module, Value: ~Copyable>: Sendable {
    @usableFromInline let makeBody: @Sendable (Module) -> @Sendable (Message) throws -> Value

    @inlinable
    init(_ makeBody: @escaping @Sendable (Module) -> @Sendable (Message) throws -> Value) {
        self.makeBody = makeBody
    }
}

/// What a method of a service and the actor's method behind it have in common: full name, and the names and
/// types of what they take.
struct ServiceSignature: Sendable, Equatable {
    private let name: String
    private let parameters: [String]
    private let types: [ObjectIdentifier?]

    init(_ name: String, _ parameters: [RouteDescription.Parameter]) {
        self.name = name
        self.parameters = parameters.map(\.name)
        self.types = parameters.map { $0.valueType.map { ObjectIdentifier($0) } }
    }
}
