#if Macros

internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// The services that a module provides.
///
/// A macro cannot look up the protocols to which a type conforms. The macro therefore generates a call for
/// each type in the inheritance clause of the actor. The compiler selects the overload of a service for this
/// call. If the type is not a service, the compiler selects an overload that returns no routes.
struct ServiceProvision {
    let module: ModuleDeclaration

    /// The declaration of `services`; nil if no inherited type can be a service, or if the actor declares the
    /// property itself.
    var member: DeclSyntax? {
        let types = self.types
        guard !types.isEmpty, !self.isDeclared else { return nil }
        let name = self.module.name
        let calls = types.map {
            "\n    services += serviceRoutes(of: (any \($0)).self, in: \(name).self)"
        }
        let methods = self.methods.map { "\n    \($0.indented(by: 4))" }.joined()
        let list = methods.isEmpty ? "" : "\n    var methods: [Waybill.ModuleMethod<\(name)>] = []\(methods)"
        return """
            \(raw: self.module.access)static var services: [Waybill.ServiceRoutes<\(raw: name)>] {
                var services: [Waybill.ServiceRoutes<\(raw: name)>] = []\(raw: calls.joined())\(raw: list)
                return services\(raw: methods.isEmpty ? "" : ".map { $0.calling(methods) }")
            }
            """
    }

    /// The code for the methods that a service's routes may call synchronously.
    ///
    /// When the module is installed, the bus determines which of these methods belong to which service.
    private var methods: [String] {
        let functions = self.module.actor.memberBlock.members.compactMap {
            $0.decl.as(FunctionDeclSyntax.self)
        }
        // If a method is overloaded, the service possibly requires the async overload, so neither overload is
        // included.
        let suspending = Set(functions.lazy.filter(\.isAsync).map(\.fullName))
        return functions.filter { !suspending.contains($0.fullName) }.compactMap(self.method)
    }

    /// Returns the code that adds a method to the list.
    ///
    /// Returns nil when a message cannot call the method synchronously, or when a service cannot require the
    /// method.
    private func method(_ function: FunctionDeclSyntax) -> String? {
        guard function.isCalledInPlace else { return nil }
        let list = function.signature.parameterClause.parameters
        let parameters = list.compactMap {
            RouteParameter($0.with(\.defaultValue, nil), of: self.module.name, .silent)
        }
        guard parameters.count == list.count, parameters.allSatisfy(\.isValue) else { return nil }
        let output = function.signature.returnClause.map { ValueType.plain($0.type, in: self.module.name) }
        let call = MethodCall(function: function, parameters: parameters)
        let words = [function.fullName.asLiteral, call.descriptions].compactMap(\.self)
        return """
            methods.append(
                Waybill.ModuleMethod<\(self.module.name)>(
                    \(words.joined(separator: ",\n    ").indented(by: 4))
                ) { \(MethodCall.module), \(call.message) -> \(output?.trimmedDescription ?? "Void") in
                    \(call.code.indented(by: 4))
                }
            )
            """
    }

    private var isDeclared: Bool {
        self.module.actor.memberBlock.members.contains { member in
            guard let property = member.decl.as(VariableDeclSyntax.self) else { return false }
            return property.isStatic && property.names.contains("services")
        }
    }

    private var types: [String] {
        let types = self.module.actor.inheritanceClause?.inheritedTypes.map(\.type) ?? []
        return types.flatMap { type in
            let type = type.as(AttributedTypeSyntax.self)?.baseType ?? type
            let parts = type.as(CompositionTypeSyntax.self)?.elements.map(\.type) ?? [type]
            return parts.map(\.trimmedDescription)
        }
        // The types in this array literal are not services. `NSObject` is a class.
        .filter { !["NSObject", "Sendable", "LoopBound", "Module", "Waybill.Module", "Actor"].contains($0) }
    }
}

extension FunctionDeclSyntax {
    /// The name with the labels of the parameters, without backticks.
    var fullName: String {
        let labels = self.signature.parameterClause.parameters.map {
            "\($0.firstName.text.withoutBackticks):"
        }
        return "\(self.name.text.withoutBackticks)(\(labels.joined()))"
    }

    /// Whether the syntax shows that code isolated to the actor can call the method synchronously.
    fileprivate var isCalledInPlace: Bool {
        let isHidden = self.modifiers.contains {
            ["static", "class", "private", "fileprivate", "mutating", "distributed"].contains($0.name.text)
        }
        let attributes = self.attributes.compactMap { $0.as(AttributeSyntax.self)?.plainName }
        // Any other attribute is possibly a global actor.
        let isElsewhere = !attributes.allSatisfy {
            ["Route", "discardableResult", "inline", "inlinable", "usableFromInline", "objc"].contains($0)
        }
        let types =
            self.signature.parameterClause.parameters.map(\.type)
            + [self.signature.returnClause?.type].compactMap(\.self)
        return !self.isAsync && !isHidden && !isElsewhere && self.genericParameterClause == nil
            && self.genericWhereClause == nil && types.allSatisfy(\.isOfPlainValues)
    }
}

extension TypeSyntax {
    /// Whether values of the type can be copied and stored, as far as the syntax shows.
    ///
    /// A type whose values cannot be copied or stored has a specifier, or is a view of memory such as `Span`.
    fileprivate var isOfPlainValues: Bool {
        if ValueType.opaque(in: Syntax(self)) != nil { return false }
        if let attributed = self.as(AttributedTypeSyntax.self), !attributed.specifiers.isEmpty {
            return false
        }
        return !self.tokens(viewMode: .sourceAccurate).contains { token in
            token.text.hasSuffix("Span") || token.text.contains("Unsafe") || token.text == "OpaquePointer"
        }
    }
}

#endif
