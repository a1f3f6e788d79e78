#if Macros

internal import SwiftSyntax
internal import WaybillRouting

/// The function that builds the typed URL of a route.
struct URLBuilder {
    private struct Parameter {
        let label: String?
        let identifier: String
        let name: String
        let type: String
        let defaultValue: String?
        var line: SourceLine?
        var isAlwaysSent = false
        /// Whether the type is possibly an existential, or an alias of one.
        ///
        /// A generic call would open the existential, and the value inside could then be treated as text.
        var isPossiblyExistential = false

        /// The value, converted to the declared type if needed.
        var argument: String {
            self.isPossiblyExistential ? "\(self.identifier) as \(self.type)" : self.identifier
        }

        var text: String {
            let label = self.label?.asParameterLabel ?? "_"
            let names = self.label == self.name ? label : "\(label) \(self.identifier)"
            return "\(names): \(self.type)" + (self.defaultValue.map { " = \($0)" } ?? "")
        }
    }

    private let method: RouteMethod
    private let parameters: [Parameter]

    /// Creates a builder whose parameters are the values that the method reads.
    ///
    /// If the method reads the whole message, the builder also has the other values of the path.
    init(_ method: RouteMethod) {
        self.method = method
        let read = method.parameters.filter(\.isValue)
            .map {
                Parameter(
                    label: $0.label,
                    identifier: $0.identifier,
                    name: $0.name,
                    type: Self.kept($0),
                    defaultValue: $0.defaultValue?.trimmedDescription,
                    line: $0.line,
                    isAlwaysSent: $0.needsEmptyValue,
                    isPossiblyExistential: !$0.isEscaping && ValueType.isPossiblyExistential($0.type)
                )
            }
        let unread = method.unread.map {
            Parameter(
                label: $0.name,
                identifier: $0.name.asIdentifier,
                name: $0.name,
                type: RouteMethod.type(of: $0),
                defaultValue: nil
            )
        }
        self.parameters = read + unread
    }

    /// A text that is different for each builder of a module.
    var signature: String {
        self.parameters.map { "\($0.label ?? "_"):\($0.type)," }.joined() + self.method.reply
    }

    /// The declaration of the function; nil if the pattern has unnamed parts, because a URL cannot be built
    /// from such a pattern.
    var declaration: String? {
        guard self.method.pattern.canBePrinted else { return nil }
        let words = self.method.function.modifiers.map(\.name.text)
        let access = words.first { $0 == "public" || $0 == "package" }.map { "\($0) " } ?? ""
        let result = "Waybill.TypedURL<\(self.method.reply)>"
        let list = self.parameters.map(\.text).joined(separator: ", ")
        let calls = self.parameters.map { parameter in
            let flag = parameter.isAlwaysSent ? ", hasDefault: true" : ""
            return ".with(\(parameter.name.asLiteral), \(parameter.argument)\(flag))"
        }
        let label = PlainPattern.isURL(self.method.pattern.text) ? "url: " : ""
        let url = "\(result)(\(label)\(self.method.pattern.text.asLiteral))"
        let lines = self.parameters.map(\.line)
        // The compiler reports a value that is not `Sendable` at the call of `with` for this value.
        let body =
            lines.firstKnown?.mapping(url + lines.join(calls)) ?? url + calls.map { "\n    \($0)" }.joined()
        return """
            \(self.head)\(access)static func \(self.method.identifier)(\(list)) -> \(result) {
                \(body.indented(by: 4))
            }
            """
    }

    private var head: String {
        let documentation = self.method.documentation.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "///\n" : "/// \($0)\n" }
        let availability = self.method.function.attributes.availability.map { "\($0)\n" }
        return (self.method.documentation.isEmpty ? [] : documentation).joined() + availability.joined()
    }

    /// Returns the type of a parameter; a closure type is escaping, because the URL stores the closure.
    private static func kept(_ parameter: RouteParameter) -> String {
        let type = parameter.type.trimmedDescription
        let isKept = parameter.isEscaping || ValueType.function(parameter.type) != nil
        return isKept ? "@escaping \(type)" : type
    }
}

#endif
