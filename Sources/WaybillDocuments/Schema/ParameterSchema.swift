internal import Waybill
internal import WaybillRouting

extension SchemaRegistry {
    /// Returns the schema of a parameter, whose value may come from a URL or from JSON.
    ///
    /// The type is nil if only its name is known, in Swift syntax or in the syntax of patterns.
    mutating func parameter(of type: (any Any.Type)?, named name: String) -> ValueSchema {
        guard let type else { return Self.pattern(type: name, expression: nil) ?? .opaque(name, "not known") }
        if let optional = type as? any AnyOptional.Type {
            return self.parameter(of: optional.wrapped, named: name).orNull
        }
        if let element = (type as? any ArrayOfValues.Type)?.elementType {
            return .array(of: self.parameter(of: element, named: TypeName.of(element)))
        }
        if type is any Decodable.Type || type is any DocumentedValue.Type || Self.isEnumeration(type) {
            return self.schema(of: type)
        }
        if let raw = (type as? any RawRepresentable.Type).flatMap({ Self.rawType(of: $0) }) {
            return self.parameter(of: raw, named: TypeName.of(raw))
        }
        if type is any URLParameter.Type || type is any LosslessStringConvertible.Type {
            let name = TypeName.of(type)
            return ValueSchema([
                "type": "string", "description": .string("\(name): text from which the type can be created"),
                "x-waybill-opaque": .string(name),
            ])
        }
        return .opaque(
            TypeName.of(type),
            "passed with the call; only callers in the same process can pass it"
        )
    }

    /// Returns the schema of a captured value; nil if the type is not a type of the pattern syntax.
    static func pattern(type: String, expression: String?) -> ValueSchema? {
        switch type {
        case "int": .integer(Int.self)
        case "double": .number
        case "bool": .boolean
        case "uuid": .text(format: "uuid")
        case "string", "path": ValueSchema(["type": "string", "minLength": 1])
        case "regex":
            ValueSchema(["type": "string", "minLength": 1, "x-waybill-regex": .string(expression ?? "")])
        default: nil
        }
    }

    private static func isEnumeration(_ type: any Any.Type) -> Bool {
        (type as? any CaseIterable.Type).flatMap { EnumerationValues.all(of: $0) } != nil
    }

    private static func rawType<Raw: RawRepresentable>(of type: Raw.Type) -> (any Any.Type)? {
        Raw.RawValue.self is any LosslessStringConvertible.Type ? Raw.RawValue.self : nil
    }
}

/// An array whose element type is not known at compile time.
private protocol ArrayOfValues {
    static var elementType: any Any.Type { get }
}

extension Array: ArrayOfValues {
    fileprivate static var elementType: any Any.Type { Element.self }
}
