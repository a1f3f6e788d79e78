#if Macros

internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import WaybillRouting

/// The URL in an attribute, which something is below.
struct BaseURL {
    /// What has the URL, as sentences call it.
    let owner: String
    /// What is below it.
    let contents: String
    /// The name of the attribute.
    let attribute: String

    static let module = Self(owner: "module", contents: "routes", attribute: "Module")
    static let service = Self(owner: "service", contents: "methods", attribute: "Service")

    /// Reads the URL.
    ///
    /// - Parameters:
    ///   - attribute: the attribute, which should have the URL.
    ///   - name: the name of the type that the attribute stands on, of which a missing URL is made.
    ///   - reporter: where problems are reported.
    /// - Returns: its pattern, and the argument where it stands; nil if it is none, and the reason is
    ///   reported.
    func read(
        in attribute: AttributeSyntax,
        of name: String,
        reporter: Reporter
    ) -> (pattern: RoutePattern, argument: ExprSyntax)? {
        guard let argument = attribute.firstArgument else {
            let written = "@\(self.attribute)(\"app://\(self.path(of: name))\")"
            reporter.report(
                "say which URL the \(self.owner)'s \(self.contents) are below: \(written)",
                at: attribute,
                fix: .replace(attribute, with: AttributeSyntax(stringLiteral: written), "write `\(written)`")
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

    /// The name of a type as a segment: `user-list` for `UserListModule`.
    private func path(of name: String) -> String {
        let isLonger = name.hasSuffix(self.attribute) && name != self.attribute
        let word = isLonger ? name.dropLast(self.attribute.count) : name[...]
        var path = ""
        for character in word {
            if character.isUppercase, path.last?.isLowercase == true { path.append("-") }
            path += character.lowercased()
        }
        return path
    }
}

#endif
