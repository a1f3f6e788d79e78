#if Tool
internal import ArgumentParser
internal import Foundation

/// The command that explains which route a URL matches, with which values, and why.
struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Matches a URL against patterns, and prints the route, its values, and each step.",
        discussion: """
            The command prints a JSON object: the pattern that matched, the parameters, the error if no pattern matched, \
            and the trace of the search. With --cases, it reads a JSON list of objects with `id`, `routes` and `url`, \
            and prints one line of JSON for each.

            EXAMPLE:
              waybill explain --route 'app://user/<int:uid>' --route /user/me app://user/7
            """
    )

    @Option(
        name: .long,
        parsing: .upToNextOption,
        help: "A pattern to match the URL against. Repeat the option for more patterns."
    )
    var route: [String] = []

    @OptionGroup var options: TableOptions

    @Option(name: .long, help: "A JSON file with a list of cases, each with its own patterns and URL.")
    var cases: String?

    @Argument(help: "The URL to match.")
    var url: String?

    func validate() throws {
        guard self.cases == nil, self.url == nil, self.route.count < 2 else { return }
        throw ValidationError("Give a URL, or a file of cases with --cases FILE.")
    }

    func run() throws {
        if let cases = self.cases {
            return try Output.write(lines: self.lines(ofFile: cases))
        }
        // The parser takes every argument after `--route` as a pattern, so the last pattern may be the URL.
        let url = self.url ?? self.route.last ?? ""
        let routes = self.url == nil ? self.route.dropLast() : self.route[...]
        let json = try Answer(of: url, routes: Array(routes), in: self.options.table).json(pretty: true)
        try Output.write(lines: json.split(separator: "\n"))
    }

    /// Returns one line of JSON for each case in a file.
    func lines(ofFile file: String) throws -> [String] {
        let data = Data(try Output.text(ofFile: file).utf8)
        let cases: [ExplainCase]
        do {
            cases = try JSONDecoder().decode([ExplainCase].self, from: data)
        } catch {
            throw FileError(file, .invalid, because: "the file is not a list of cases: \(error)")
        }
        return try cases.map { try $0.answer(self.options).json(pretty: false) }
    }
}
#endif
