/// The rows of a terminal that show pages.
///
/// The value itself does not use a terminal.
///
/// ```
///  Shop › kitchen                          the pages below, and this one
///  ────────────────
///  lines and links, scrolled so that the chosen link is in view
///  ────────────────
///  what happened last, or which keys there are
///  screen://category/kitchen               where this is
/// ```
struct ScreenView {
    /// The style of a part of a row.
    enum Style {
        case plain, bold, dim, chosen
    }

    /// A part of a row.
    struct Part: Equatable {
        let text: String
        var style = Style.plain
    }

    /// A page, and its chosen link.
    struct Layer {
        var trail: [String]
        var url: String
        var content: PageContent
        var chosen: Int
    }

    /// The layers, front last.
    ///
    /// Only the last layer receives keys.
    var layers: [Layer]
    /// The latest message for the customer.
    var message: String
    var columns: Int
    var rows: Int

    static let keys = "arrows choose  Enter follows  Backspace back  g URL  h home  q leaves"

    /// The rows: as many as the terminal has, each as wide as the terminal.
    var lines: [[Part]] {
        guard let bottom = self.layers.first else { return [] }
        var lines = self.page(bottom, isCovered: self.layers.count > 1)
        for sheet in self.layers.dropFirst() { self.cover(&lines, with: sheet) }
        return lines
    }

    private func page(_ layer: Layer, isCovered: Bool) -> [[Part]] {
        let rule = String(repeating: "─", count: self.columns)
        let front = self.layers[self.layers.count - 1]
        let height = max(1, self.rows - 5)
        let trail = self.trail(of: layer).fitted(to: self.columns)
        var lines = [[Part(text: trail, style: isCovered ? .dim : .bold)]]
        lines.append([Part(text: rule, style: .dim)])
        lines += self.body(layer, columns: self.columns, rows: height, isCovered: isCovered)
        lines.append([Part(text: rule, style: .dim)])
        let note = self.message.isEmpty ? Self.keys : self.message
        lines.append([Part(text: " \(note)".fitted(to: self.columns))])
        lines.append([Part(text: " \(front.url)".fitted(to: self.columns), style: .dim)])
        return Array(lines.suffix(self.rows))
    }

    /// Returns the titles of the pages in one row, without the first titles if the row is too short.
    private func trail(of layer: Layer) -> String {
        var titles = layer.trail[...]
        var text = " " + titles.joined(separator: " › ")
        while text.displayWidth > self.columns, titles.count > 1 {
            titles.removeFirst()
            text = " … › " + titles.joined(separator: " › ")
        }
        return text
    }

    /// Returns lines and links in a number of rows, scrolled to the chosen link.
    private func body(_ layer: Layer, columns: Int, rows: Int, isCovered: Bool) -> [[Part]] {
        var all = layer.content.lines.flatMap { $0.wrapped(to: columns - 2) }.map { line in
            [Part(text: " \(line)".fitted(to: columns), style: isCovered ? .dim : .plain)]
        }
        if !all.isEmpty, !layer.content.links.isEmpty { all.append([Part(text: "".fitted(to: columns))]) }
        let first = all.count
        for (number, link) in layer.content.links.enumerated() {
            let isChosen = number == layer.chosen && !isCovered
            let text = "\(isChosen ? " > " : "   ")\(link.title)".fitted(to: columns)
            all.append([Part(text: text, style: isChosen ? .chosen : isCovered ? .dim : .plain)])
        }
        let chosen = layer.content.links.isEmpty ? 0 : first + layer.chosen
        let start = max(0, min(chosen < rows ? 0 : chosen - rows / 2, all.count - rows))
        let visible = Array(all[start..<min(all.count, start + rows)])
        let rest = rows - visible.count
        return visible + Array(repeating: [Part(text: "".fitted(to: columns))], count: rest)
    }

    /// Draws a sheet in a frame over the rows.
    private func cover(_ lines: inout [[Part]], with sheet: Layer) {
        let content = sheet.content
        let texts = content.lines + content.links.map { "   \($0.title)" } + [content.title + "    "]
        let widest = texts.map(\.displayWidth).max() ?? 0
        let inner = min(max(24, widest + 3), self.columns - 4)
        let wrapped = content.lines.flatMap { $0.wrapped(to: inner - 2) }.count
        let gap = wrapped > 0 && !content.links.isEmpty ? 1 : 0
        let height = min(wrapped + gap + content.links.count, self.rows - 6)
        guard inner > 4, height > 0 else { return }
        let isCovered = sheet.url != self.layers.last?.url
        let top = (self.rows - height - 2) / 2
        let left = (self.columns - inner - 2) / 2
        let title = "─ \(content.title) "
        let head = title + String(repeating: "─", count: max(0, inner - title.displayWidth))
        var box = [[Part(text: "┌\(head.fitted(to: inner))┐", style: .bold)]]
        for row in self.body(sheet, columns: inner, rows: height, isCovered: isCovered) {
            box.append([Part(text: "│")] + row + [Part(text: "│")])
        }
        box.append([Part(text: "└" + String(repeating: "─", count: inner) + "┘")])
        for (offset, row) in box.enumerated() where top + offset < lines.count {
            let below = lines[top + offset].map(\.text).joined()
            lines[top + offset] =
                [Part(text: below.columns(0..<left), style: .dim)] + row
                + [Part(text: below.columns((left + inner + 2)..<self.columns), style: .dim)]
        }
    }

    /// The text to write to a terminal of this size, from the first row to the last.
    var text: String {
        // Each row is as wide as the terminal, so nothing has to be erased.
        "\u{1b}[H" + self.lines.map { $0.map(\.escaped).joined() }.joined(separator: "\r\n")
    }
}

extension ScreenView.Part {
    fileprivate var escaped: String {
        switch self.style {
        case .plain: self.text
        case .bold: "\u{1b}[1m\(self.text)\u{1b}[0m"
        case .dim: "\u{1b}[2m\(self.text)\u{1b}[0m"
        case .chosen: "\u{1b}[7m\(self.text)\u{1b}[0m"
        }
    }
}
