import Testing

@testable import Shop

@Suite
struct ScreenViewTests {
    private func view(links: Int, chosen: Int = 0, sheet: Bool = false, columns: Int, rows: Int) -> ScreenView
    {
        let content = PageContent(
            title: "菜切包丁",
            lines: ["A knife for vegetables, 菜切包丁, that is long enough to be broken into lines."],
            links: (0..<links).map { PageLink("link \($0) 包丁", "screen://\($0)") }
        )
        let layer = ScreenView.Layer(
            trail: ["Shop", "菜切包丁"],
            url: "screen://knife",
            content: content,
            chosen: chosen
        )
        let payment = PageContent(title: "Payment", lines: ["Pay 54.90?"], links: [PageLink("Yes", "x")])
        let front = ScreenView.Layer(trail: ["Payment"], url: "screen://payment", content: payment, chosen: 0)
        return ScreenView(
            layers: sheet ? [layer, front] : [layer],
            message: "",
            columns: columns,
            rows: rows
        )
    }

    @Test(arguments: [(80, 24), (20, 8), (33, 12), (7, 3), (1, 1), (200, 60)], [false, true])
    func `a screen view fills all rows and columns of the terminal`(size: (Int, Int), sheet: Bool) {
        let lines = self.view(links: 40, chosen: 30, sheet: sheet, columns: size.0, rows: size.1).lines
        #expect(lines.count == size.1)
        for line in lines { #expect(line.map(\.text.displayWidth).reduce(0, +) == size.0, "\(line)") }
    }

    @Test(arguments: [0, 5, 20, 39])
    func `a screen view scrolls to the chosen link`(chosen: Int) {
        let lines = self.view(links: 40, chosen: chosen, columns: 80, rows: 24).lines
        let marked = lines.flatMap(\.self).filter { $0.style == .chosen }
        #expect(marked.count == 1)
        #expect(marked[0].text.hasPrefix(" > link \(chosen) "))
    }

    @Test func `a screen view shows the title of the front page, however many pages are below`() {
        var view = self.view(links: 1, columns: 30, rows: 10)
        view.layers[0].trail = ["Shop", "kitchen", "Copper Kettle", "Cart", "菜切包丁"]
        #expect(view.lines[0].map(\.text).joined() == " … › Cart › 菜切包丁          ")
    }

    @Test func `a sheet is drawn in a frame, and only its links can be chosen`() {
        let lines = self.view(links: 3, sheet: true, columns: 40, rows: 14).lines
        let text = lines.map { $0.map(\.text).joined() }
        #expect(text.contains { $0.contains("┌─ Payment ─") })
        #expect(text.contains { $0.contains("│ Pay 54.90?") })
        #expect(lines.flatMap(\.self).filter { $0.style == .chosen }.map(\.text.trimmed) == ["> Yes"])
        #expect(text.last?.trimmed == "screen://payment")
    }
}
