#if Tool
/// A table and a URL, as a file of cases has them.
struct ExplainCase: Decodable {
    let id: String?
    let routes: [String]
    let url: String
    /// The name of a preset; the option of the command line where there is none.
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
