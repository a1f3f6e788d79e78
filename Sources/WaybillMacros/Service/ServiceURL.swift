#if Macros

internal import SwiftSyntax
internal import WaybillRouting

/// The URL of a service, as its attribute says it.
enum ServiceURL {
    /// Nil if it is none, and the reason is reported.
    static func url(in attribute: AttributeSyntax, _ reporter: Reporter) -> String? {
        guard let argument = attribute.firstArgument else {
            reporter.report(
                "say which URL the service's methods are below: @Service(\"app://time\")",
                at: attribute
            )
            return nil
        }
        guard let text = argument.literalText else {
            reporter.report(
                "the URL has to be a string literal without interpolation, since routes are checked while they are compiled",
                at: argument
            )
            return nil
        }
        if let sign = text.first(where: { $0 == "?" || $0 == "#" }) {
            reporter.report("a service's URL has no `\(sign)`: its methods are below its path", at: argument)
            return nil
        }
        do throws(RoutingError) {
            let pattern = try RoutePattern(text)
            if let parameter = pattern.parameters.first {
                reporter.report(
                    "a service's URL has no parameters, and this one has a `\(parameter.name)`: "
                        + "its callers would not know the value",
                    at: argument
                )
                return nil
            }
        } catch {
            reporter.report(error.message, at: argument)
            return nil
        }
        return RoutePath.trimmed(text)
    }
}

#endif
