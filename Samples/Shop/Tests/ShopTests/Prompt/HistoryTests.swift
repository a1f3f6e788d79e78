import Foundation
import Testing

@testable import Shop

@Suite
struct HistoryTests {
    private let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID())/deep/history")

    @Test func `a history file keeps its lines, and only its owner can read it`() throws {
        var history = History(file: self.file)
        for line in ["one", "two", "two", "", "茶"] { history.append(line) }
        #expect(History(file: self.file).lines == ["one", "two", "茶"])
        let mode = try FileManager.default.attributesOfItem(atPath: self.file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a history drops the oldest lines beyond its limit`() {
        var history = History(file: nil)
        for number in 1...History.limit + 5 { history.append("\(number)") }
        #expect(history.lines.count == History.limit && history.lines.first == "6")
    }

    @Test func `a history whose file cannot be written keeps its lines in memory`() {
        var history = History(file: URL(filePath: "/dev/null/history"))
        history.append("one")
        #expect(history.lines == ["one"])
    }
}
