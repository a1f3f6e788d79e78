extension String {
    /// Returns the text in exactly this number of columns of a terminal, cut or filled with spaces.
    ///
    /// Half of a wide character becomes a space, and a control character becomes a dot.
    func fitted(to columns: Int) -> String { self.columns(0..<max(0, columns)) }

    /// Returns a range of columns, filled with spaces behind the text and where a wide character is cut.
    func columns(_ range: Range<Int>) -> String {
        var text = ""
        var column = 0
        for character in self {
            if column >= range.upperBound { break }
            let shown = character.isControl ? "·" : character
            let width = shown.displayWidth
            if column >= range.lowerBound, column + width <= range.upperBound {
                text.append(shown)
            } else {
                // A character that is cut becomes as many spaces as columns of it are in the range.
                let visible = min(column + width, range.upperBound) - max(column, range.lowerBound)
                text += String(repeating: " ", count: max(0, visible))
            }
            column += width
        }
        return text + String(repeating: " ", count: max(0, range.upperBound - max(column, range.lowerBound)))
    }

    /// Returns the text as lines of at most this number of columns, broken at spaces where possible.
    func wrapped(to columns: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in self.split(separator: " ", omittingEmptySubsequences: false) {
            if !line.isEmpty, line.displayWidth + 1 + word.displayWidth > columns {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
            while line.displayWidth > columns, columns > 1 {
                var head = ""
                while let first = line.first, head.displayWidth + first.displayWidth <= columns {
                    head.append(line.removeFirst())
                }
                lines.append(head)
            }
        }
        return lines + [line]
    }
}

extension Character {
    fileprivate var isControl: Bool {
        self.unicodeScalars.allSatisfy { $0.properties.generalCategory == .control }
    }
}
