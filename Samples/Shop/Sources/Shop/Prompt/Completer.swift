internal import Waybill

/// What a line that has been begun could become.
struct Completer {
    private let words: [String]

    init(words: [String]) { self.words = words }

    /// Completes the routes of a bus as far as their patterns are plain text, and other words.
    init(routes: [Route], words: [String]) {
        self.words = routes.map { Self.plainPart(of: $0.pattern.text) } + words
    }

    /// The words that begin like this, in order, each once.
    ///
    /// After a slash the default scheme is meant: `/cat` becomes `/catalog/`.
    func candidates(for head: String) -> [String] {
        let words = head.hasPrefix("/") ? self.words.compactMap(Self.withoutScheme) : self.words
        return Set(words.filter { $0.hasPrefix(head) }).sorted()
    }

    /// What all words begin with.
    static func commonPrefix(of words: [String]) -> String {
        guard var prefix = words.first?[...] else { return "" }
        for word in words {
            while !word.hasPrefix(prefix) { prefix.removeLast() }
        }
        return String(prefix)
    }

    /// The text of a pattern before its first placeholder.
    private static func plainPart(of pattern: String) -> String {
        var plain = ""
        for character in pattern {
            if character == "(" || plain.last == "/" && ":<{*".contains(character) { break }
            plain.append(character)
        }
        return plain
    }

    private static func withoutScheme(_ url: String) -> String? {
        url.hasPrefix("app://") ? String(url.dropFirst(5)) : nil
    }
}
