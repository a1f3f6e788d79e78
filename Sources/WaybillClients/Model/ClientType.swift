/// The type of a value in a generated client.
indirect enum ClientType: Hashable, Sendable {
    /// Any JSON value, because the document does not describe the type.
    case json
    /// No value.
    case nothing
    case boolean
    case text
    case integer(IntegerType)
    case number
    case decimal
    case date
    case uuid
    case bytes
    /// A text that is always the same, and that shows which option of a union a value is.
    case literal(String)
    case array(ClientType)
    case dictionary(ClientType)
    case optional(ClientType)
    /// A type that the client declares, with the name of the schema.
    case named(String)

    /// The type without an outer optional.
    var unwrapped: ClientType {
        if case .optional(let wrapped) = self { wrapped.unwrapped } else { self }
    }

    /// The type of the values in collections and optionals.
    var innermost: ClientType {
        switch self {
        case .array(let type), .dictionary(let type), .optional(let type): type.innermost
        default: self
        }
    }

    var isCollection: Bool {
        switch self {
        case .array, .dictionary: true
        default: false
        }
    }

    var isOptional: Bool {
        if case .optional = self { true } else { false }
    }
}

/// The size of a whole number.
struct IntegerType: Hashable, Sendable {
    let bits: Int
    let isSigned: Bool

    /// Whether each value fits in a JavaScript `number`, whose whole numbers have 53 bits.
    var isSafeInJavaScript: Bool { self.bits < 64 }
}

/// A type that a client declares.
struct ClientDeclaration: Hashable, Sendable {
    /// A property of an object.
    struct Property: Hashable, Sendable {
        let name: String
        let type: ClientType
        /// Whether an object without the property is invalid.
        let isRequired: Bool

        /// The type of the property's value if the property is present.
        var valueType: ClientType { self.isRequired ? self.type : self.type.unwrapped }

        /// The declared type of the property, which is optional if the property may be missing.
        var declaredType: ClientType { self.isRequired ? self.type : .optional(self.valueType) }
    }

    /// An option of a union.
    struct Option: Hashable, Sendable {
        let tag: String
        /// The name of the option's schema.
        let schema: String
    }

    enum Kind: Hashable, Sendable {
        case object([Property])
        case texts([String])
        case integers([String], IntegerType)
        /// Objects with a property, the tag, whose text shows which option of the union the object is.
        case union(tag: String, options: [Option])
    }

    /// The name of the schema.
    let name: String
    let documentation: String
    let kind: Kind
}
