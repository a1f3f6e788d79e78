internal import Waybill
internal import WaybillRouting

/// A route for which the test case generates URLs.
struct SampledRoute: Sendable {
    let pattern: RoutePattern
    let description: RouteDescription

    /// The names of the parameters in the path.
    var named: Set<String> { Set(self.pattern.parameters.map(\.name)) }

    /// The first segment of the path; nil if it is not literal text.
    var firstLiteral: String? {
        let path = self.pattern.text.drop { $0 != ":" }.dropFirst(3)
        guard let segment = path.split(separator: "/").first, !segment.contains(where: ":<*[(".contains)
        else {
            return nil
        }
        return String(segment)
    }

    /// Returns the type of a parameter; nil if the route's description does not contain the parameter.
    func type(of name: String) -> String? {
        self.description.parameters.first { $0.name == name }?.type
    }

    /// Returns whether the pattern itself restricts the text of a value.
    ///
    /// A plain placeholder and a catch-all segment accept any text.
    func isConstrained(_ name: String) -> Bool {
        self.pattern.parameters.contains { $0.name == name && !["string", "path"].contains($0.type) }
    }
}
