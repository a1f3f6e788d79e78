internal import Waybill

/// The possible completions of a line.
struct Completer {
    private let words: [String]
    /// The scheme of a line without a scheme.
    private let scheme: String

    init(words: [String], scheme: String = "app") {
        self.words = words
        self.scheme = scheme
    }

    /// Creates a completer of other words and of the routes of a bus, each up to its first placeholder.
    init(routes: [Route], words: [String], scheme: String = "app") {
        self.init(words: routes.map { Self.plainPart(of: $0.pattern.text) } + words, scheme: scheme)
    }

    /// Returns the words that begin with a text, in order and without duplicates.
    ///
    /// A text without a scheme has the default scheme: `cat` becomes `catalog/`, and `/cat` becomes
    /// `/catalog/`.
    func candidates(for head: String) -> [String] {
        let isAbsolute = head.hasPrefix("/")
        let start = "\(self.scheme):\(isAbsolute ? "/" : "//")"
        let short = self.words.filter { $0.hasPrefix("\(self.scheme)://") }.map { $0.dropFirst(start.count) }
        let words = isAbsolute ? [] : self.words
        let found = words + (head.isEmpty ? [] : short.map(String.init))
        return Set(found.filter { !$0.isEmpty && $0.hasPrefix(head) }).sorted()
    }

    /// Returns the word that a mistyped text most probably means.
    ///
    /// The word differs by at most two added, omitted, changed or swapped letters.
    static func nearest(to text: String, among words: [String]) -> String? {
        let found = words.map { (word: $0, distance: Self.distance(Array(text), Array($0))) }
        return found.filter { $0.distance <= 2 && $0.distance < $0.word.count / 2 }
            .min { $0.distance < $1.distance }?.word
    }

    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var (before, last) = ([Int](), Array(0...other.count))
        for (row, character) in one.enumerated() {
            var next = [row + 1]
            for (column, wanted) in other.enumerated() {
                var least = min(
                    last[column] + (character == wanted ? 0 : 1),
                    last[column + 1] + 1,
                    next[column] + 1
                )
                if row > 0, column > 0, one[row - 1] == wanted, other[column - 1] == character {
                    least = min(least, before[column - 1] + 1)
                }
                next.append(least)
            }
            (before, last) = (last, next)
        }
        return last[other.count]
    }

    static func commonPrefix(of words: [String]) -> String {
        guard var prefix = words.first?[...] else { return "" }
        for word in words {
            while !word.hasPrefix(prefix) { prefix.removeLast() }
        }
        return String(prefix)
    }

    /// Returns the text of a pattern before its first placeholder.
    private static func plainPart(of pattern: String) -> String {
        var plain = ""
        for character in pattern {
            if character == "(" || plain.last == "/" && ":<{*".contains(character) { break }
            plain.append(character)
        }
        return plain
    }
}
