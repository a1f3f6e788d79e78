/// The text of `help` at the prompt.
enum PromptHelp {
    static var text: String {
        let width = (Example.all.map(\.url.count).max() ?? 0) + 2
        let examples = Example.all.map { example in
            let gap = String(repeating: " ", count: width - example.url.count)
            return "  \(example.url)\(gap)\(example.summary)"
        }
        return """
            Type a URL and press Enter to see its reply. A URL without a scheme gets the scheme app.
            Tab completes a word. The arrows move in the line and through the history.
            Ctrl-C discards the line. Ctrl-D quits.

            \(examples.joined(separator: "\n"))

              routes          show the table of all routes
              format json     print replies as JSON
              format text     print replies as text
              help            show this text
              quit            end the program
            """
    }
}
