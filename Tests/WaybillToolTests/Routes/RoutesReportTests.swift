#if Tool
import ArgumentParser
import Testing

@testable import WaybillTool

@Suite struct RoutesReportTests {
    @Test func `the routes report lists conflicts first, with both places`() throws {
        let text = "# users\n/user/:id\n\n/user/me\n  app://user/:name  \n/x/<itn:y>\n"
        let report = RoutesReport(text, file: "routes.txt", try TableOptions.parse([]))
        #expect(report.problems.count == 2)
        #expect(report.lines[0].hasPrefix("conflict: app://user/:name"))
        #expect(report.lines[0].contains("routes.txt:2") && report.lines[0].contains("routes.txt:5"))
        #expect(report.lines[1].hasPrefix("invalidPattern: routes.txt:6"))
        #expect(report.lines[2...] == ["/user/:id  routes.txt:2  id: string", "/user/me   routes.txt:4"])
    }

    @Test func `the routes report reads a file with the line breaks of Windows`() throws {
        let report = RoutesReport("# users\r\n/user\r\n/item\r\n", file: "r", try TableOptions.parse([]))
        #expect(report.lines == ["/user  r:2", "/item  r:3"])
    }

    @Test(arguments: ["\u{2028}", "\u{B}", "\u{85}", "\r"])
    func `the routes report counts only the lines that editors count`(character: String) throws {
        let text = "# users \(character) and guests\n/user\n"
        let report = RoutesReport(text, file: "r", try TableOptions.parse([]))
        #expect(report.lines == ["/user  r:2"])
    }
}
#endif
