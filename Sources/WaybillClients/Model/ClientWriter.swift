/// A type that writes the source code of a client in one language.
protocol ClientWriter {
    var typeNames: TypeNames { get }
    var code: CodeWriter { get set }

    /// Writes the client, and returns its text.
    mutating func write() -> String
}

extension ClientWriter {
    var types: ClaimedNames { self.typeNames.types }

    var failures: ClaimedNames { self.typeNames.failures }

    /// Writes the lines of `body` with one more level of indentation, between an opening and a closing line.
    mutating func block(_ opening: String? = nil, closing: String? = nil, _ body: (inout Self) -> Void) {
        if let opening { self.code.line(opening) }
        self.code.indent()
        body(&self)
        self.code.outdent()
        if let closing { self.code.line(closing) }
    }

    /// Returns the lines of a comment, without empty lines at the beginning and the end.
    ///
    /// `more` follows the text, after an empty line. `escape` returns a line in which characters that would
    /// end a comment are replaced.
    static func documentation(
        _ text: String,
        more: [String],
        _ escape: (String) -> String
    ) -> [String] {
        var lines = text.documentationLines
        while lines.last?.isEmpty == true { lines.removeLast() }
        while lines.first?.isEmpty == true { lines.removeFirst() }
        if !lines.isEmpty, !more.isEmpty { lines.append("") }
        return (lines + more.flatMap(\.documentationLines)).map(escape)
    }

    /// Returns lines for the documentation of a route: its pattern, its default values and its errors.
    ///
    /// `names` are the names of the arguments in the client. `word` precedes each error.
    static func details(
        of function: ClientModel.Function,
        names: ClaimedNames? = nil,
        errors word: String
    ) -> [String] {
        let defaults = function.sortedArguments.compactMap { argument in
            argument.defaultValue.map { "`\(names?[argument.name] ?? argument.name)` is \($0) by default." }
        }
        var lines = [function.patternText]
        if !defaults.isEmpty { lines += [""] + defaults }
        if !function.failures.isEmpty { lines += [""] + function.failures.map { "\(word) \($0)" } }
        return lines
    }
}
