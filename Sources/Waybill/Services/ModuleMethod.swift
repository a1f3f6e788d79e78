/// A method of a module that cannot suspend, which a service's route may call in place.
///
/// The methods of a service's protocol are `async throws`, because a message takes time and can fail, but the
/// actor that provides the service may declare a method without `async`. The protocol does not contain this
/// information, so `@Module` generates a `ModuleMethod` for each method in the actor's body that can belong
/// to a service:
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
    /// A ``MethodCode`` for the method's return type.
    private let code: any AnyObject & Sendable

    /// Creates a method.
    ///
    /// - Parameters:
    ///   - name: The full name, with the argument labels.
    ///   - parameters: The parameters that the method reads, with their types.
    ///   - body: A closure that calls the method, on the module's loop. Its return type need not be
    ///     `Sendable`, because the route of the service's method requires it.
    @inlinable
    public init<Value: ~Copyable>(
        _ name: String,
        parameters: [RouteDescription.Parameter] = [],
        _ body: @escaping @Sendable (isolated Module, Message) throws -> Value
    ) {
        // The bus calls the code only on the loop of the module's mailbox, which is the loop of the actor.
        self.init(
            name,
            parameters,
            code: MethodCode { (module: Module) in unsafe IsolatedBody(body).unisolated(module) }
        )
    }

    @usableFromInline
    init(_ name: String, _ parameters: [RouteDescription.Parameter], code: any AnyObject & Sendable) {
        self.signature = ServiceSignature(name, parameters)
        self.code = code
    }

    /// Returns a function that makes the code for a module, or nil for another signature or return type.
    func code<Value: Sendable>(
        of signature: ServiceSignature,
        returning type: Value.Type
    ) -> (@Sendable (Module) -> @Sendable (Message) throws -> Value)? {
        guard self.signature == signature else { return nil }
        return (self.code as? MethodCode<Module, Value>)?.makeBody
    }
}

/// The code of a method, with the method's return type in the object's type.
///
/// The object is created where the module's type and the return type are known. Generic code would call the
/// method through four functions that convert its arguments.
@usableFromInline
final class MethodCode<Module: Waybill.Module, Value: ~Copyable>: Sendable {
    @usableFromInline let makeBody: @Sendable (Module) -> @Sendable (Message) throws -> Value

    @inlinable
    init(_ makeBody: @escaping @Sendable (Module) -> @Sendable (Message) throws -> Value) {
        self.makeBody = makeBody
    }
}

/// The properties by which the actor's method is found for a method of a service.
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
