/// The text of `help` at the prompt.
enum PromptHelp {
    static var text: String {
        let width = (Example.all.map(\.url.count).max() ?? 0) + 2
        let examples = Example.all.map { example in
            let gap = String(repeating: " ", count: width - example.url.count)
            return "  \(example.url)\(gap)\(example.summary)"
        }
        return """
            Type a URL and press Enter; the reply comes back. Without a scheme, app: is meant.
            Tab completes; the arrows walk through the line and the history.
            Ctrl-C gives up a line, Ctrl-D leaves.

            \(examples.joined(separator: "\n"))

              routes          the table of all routes
              format json     print replies as JSON; format text as text
              help            this
              quit            leave
            """
    }
}
