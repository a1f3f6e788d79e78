#if Macros

internal import SwiftSyntax
internal import WaybillRouting

/// The URL in an attribute, which something is below.
struct BaseURL {
    /// What has the URL, as sentences call it.
    let owner: String
    /// What is below it.
    let contents: String
    /// How it is written.
    let example: String

    static let module = Self(owner: "module", contents: "routes", example: #"@Module("app://user")"#)
    static let service = Self(owner: "service", contents: "methods", example: #"@Service("app://time")"#)

    /// Reads the URL.
    ///
    /// - Returns: its pattern, and the argument where it stands; nil if it is none, and the reason is
    ///   reported.
    func read(
        in attribute: AttributeSyntax,
        _ reporter: Reporter
    ) -> (pattern: RoutePattern, argument: ExprSyntax)? {
        guard let argument = attribute.firstArgument else {
            reporter.report(
                "say which URL the \(self.owner)'s \(self.contents) are below: \(self.example)",
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
            reporter.report(
                "a \(self.owner)'s URL has no `\(sign)`: its \(self.contents) are below its path",
                at: argument
            )
            return nil
        }
        do throws(RoutingError) {
            return (try RoutePattern(text), argument)
        } catch {
            reporter.report(error.message, at: argument)
            return nil
        }
    }
}

#endif
