#if Macros

internal import SwiftSyntax
internal import WaybillRouting

/// The URL in the attribute of a service.
enum ServiceURL {
    /// Returns the URL, or reports the problem and returns nil when the attribute has no valid URL.
    static func url(in attribute: AttributeSyntax, of name: String, reporter: Reporter) -> String? {
        guard let (pattern, argument) = BaseURL.service.read(in: attribute, of: name, reporter: reporter)
        else { return nil }
        if let parameter = pattern.parameters.first {
            reporter.report(
                "a service's URL cannot have parameters, but this one has `\(parameter.name)`: "
                    + "callers of the service would not know the value",
                at: argument
            )
            return nil
        }
        return RoutePath.trimmed(pattern.text)
    }
}

#endif
