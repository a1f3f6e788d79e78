#if Tool
/// A list of routes and a URL from a file of cases.
struct ExplainCase: Decodable {
    let id: String?
    let routes: [String]
    let url: String
    /// The name of the routing conventions; if it is nil or unknown, the options of the command apply.
    let conventions: String?
    let defaultScheme: String?

    func answer(_ options: TableOptions) -> Answer {
        var options = options
        if let name = self.conventions.flatMap(ConventionsName.init(argument:)) { options.conventions = name }
        if let scheme = self.defaultScheme { options.defaultScheme = scheme }
        var answer = Answer(of: self.url, routes: self.routes, in: options.table)
        answer.id = self.id ?? ""
        answer.trace = nil
        return answer
    }
}
#endif
