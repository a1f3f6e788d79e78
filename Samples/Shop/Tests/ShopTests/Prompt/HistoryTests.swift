import Foundation
import Testing

@testable import Shop

@Suite
struct HistoryTests {
    private let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID())/deep/history")

    @Test func `lines are there the next time`() throws {
        var history = History(file: self.file)
        for line in ["one", "two", "two", "", "茶"] { history.append(line) }
        #expect(History(file: self.file).lines == ["one", "two", "茶"])
        let mode = try FileManager.default.attributesOfItem(atPath: self.file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `the oldest lines are forgotten`() {
        var history = History(file: nil)
        for number in 1...History.limit + 5 { history.append("\(number)") }
        #expect(history.lines.count == History.limit && history.lines.first == "6")
    }

    @Test func `a file that cannot be written does not matter`() {
        var history = History(file: URL(filePath: "/dev/null/history"))
        history.append("one")
        #expect(history.lines == ["one"])
    }
}
