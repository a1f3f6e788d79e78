internal import Waybill
internal import WaybillRouting

/// A route that URLs are made up for.
struct SampledRoute: Sendable {
    let pattern: RoutePattern
    let description: RouteDescription

    /// The parameters that the path names.
    var named: Set<String> { Set(self.pattern.parameters.map(\.name)) }

    /// The text that the path begins with, if it begins with one.
    var firstLiteral: String? {
        let path = self.pattern.text.drop { $0 != ":" }.dropFirst(3)
        guard let segment = path.split(separator: "/").first, !segment.contains(where: ":<*[(".contains)
        else {
            return nil
        }
        return String(segment)
    }

    /// The type of a parameter as its handler declares it, or as the pattern does.
    func type(of name: String) -> String? {
        self.description.parameters.first { $0.name == name }?.type
    }

    /// Whether the pattern itself restricts the text of a value: the rest of a path may be any text, as a
    /// segment may.
    func isConstrained(_ name: String) -> Bool {
        self.pattern.parameters.contains { $0.name == name && !["string", "path"].contains($0.type) }
    }
}
