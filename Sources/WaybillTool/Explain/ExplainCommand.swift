#if Tool
internal import ArgumentParser
internal import Foundation

/// The command that explains which route a URL leads to, with which values, and why.
struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Prints which route a URL matches, with which values, and why.",
        discussion: """
            Prints a JSON object with `matched`, `parameters`, `error` and `trace`. With --cases, reads a JSON list of \
            objects with `id`, `routes` and `url`, and prints one line of `id`, `matched`, `parameters` and `error` \
            for each.
            """
    )

    @Option(
        name: .long,
        parsing: .upToNextOption,
        help: "A pattern of the table; may be given several times."
    )
    var route: [String] = []

    @OptionGroup var options: TableOptions

    @Option(name: .long, help: "A file of cases.")
    var cases: String?

    @Argument(help: "The URL.")
    var url: String?

    func validate() throws {
        guard self.cases == nil, self.url == nil, self.route.count < 2 else { return }
        throw ValidationError("Give a URL, or a file of cases with --cases FILE.")
    }

    func run() throws {
        if let cases = self.cases {
            for line in try self.lines(of: Data(contentsOf: URL(filePath: cases))) { print(line) }
            return
        }
        // The parser takes every argument after `--route` as a pattern, so the last pattern may be the URL.
        let url = self.url ?? self.route.last ?? ""
        let routes = self.url == nil ? self.route.dropLast() : self.route[...]
        print(try Answer(of: url, routes: Array(routes), in: self.options.table).json(pretty: true))
    }

    /// Returns one line of JSON for each case.
    func lines(of data: Data) throws -> [String] {
        let cases = try JSONDecoder().decode([ExplainCase].self, from: data)
        return try cases.map { try $0.answer(self.options).json(pretty: false) }
    }
}
#endif
