#if Macros

internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import WaybillRouting

/// The URL in the attribute of a module or a service, to which the paths of its routes are appended.
struct BaseURL {
    /// The word for the declaration that has the attribute: `module` or `service`.
    let owner: String
    /// The word for the members of the declaration: `routes` or `methods`.
    let contents: String
    /// The name of the attribute.
    let attribute: String

    static let module = Self(owner: "module", contents: "routes", attribute: "Module")
    static let service = Self(owner: "service", contents: "methods", attribute: "Service")

    /// Reads the URL in an attribute, or reports the problem and returns nil.
    ///
    /// If the URL is missing, a URL is suggested from `name`, the name of the type that has the attribute.
    func read(
        in attribute: AttributeSyntax,
        of name: String,
        reporter: Reporter
    ) -> (pattern: RoutePattern, argument: ExprSyntax)? {
        guard let argument = attribute.firstArgument else {
            let written = "@\(self.attribute)(\"app://\(self.path(of: name))\")"
            reporter.report(
                "write the base URL of the \(self.owner)'s \(self.contents): \(written)",
                at: attribute,
                fix: .replace(attribute, with: AttributeSyntax(stringLiteral: written), "write `\(written)`")
            )
            return nil
        }
        guard let text = argument.literalText else {
            reporter.report(
                "the URL must be a string literal without interpolation, because the compiler checks the routes",
                at: argument
            )
            return nil
        }
        if let sign = text.first(where: { $0 == "?" || $0 == "#" }) {
            reporter.report(
                "the base URL of a \(self.owner) cannot contain `\(sign)`, because the paths of its "
                    + "\(self.contents) are appended to it: remove `\(sign)` and the text after it",
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

    /// Returns the name of a type as a path segment, such as `user-list` for `UserListModule` and
    /// `http-cache` for `HTTPCacheModule`.
    private func path(of name: String) -> String {
        let isLonger = name.hasSuffix(self.attribute) && name != self.attribute
        let word = isLonger ? name.dropLast(self.attribute.count) : name[...]
        var path = ""
        for index in word.indices {
            if word[index].isUppercase, index > word.startIndex {
                // A word begins after a lowercase letter, and with the last letter of an abbreviation.
                let next = word.index(after: index)
                let endsAbbreviation = next < word.endIndex && word[next].isLowercase
                if !word[word.index(before: index)].isUppercase || endsAbbreviation { path.append("-") }
            }
            path += word[index].lowercased()
        }
        return path
    }
}

#endif
