extension String {
    /// The text in exactly so many columns of a terminal: cut, or filled with spaces.
    ///
    /// Half of a wide character is a space, and a control character is a dot.
    func fitted(to columns: Int) -> String { self.columns(0..<max(0, columns)) }

    /// The columns of a range, filled with spaces where the text has ended or a wide character is cut.
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
                // The visible part of a character that is cut.
                let visible = min(column + width, range.upperBound) - max(column, range.lowerBound)
                text += String(repeating: " ", count: max(0, visible))
            }
            column += width
        }
        return text + String(repeating: " ", count: max(0, range.upperBound - max(column, range.lowerBound)))
    }

    /// The text in lines of at most so many columns, broken at spaces where there are any.
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
