#if Tool
import ArgumentParser
import Foundation
import Testing

@testable import WaybillTool

@Suite struct AnswerTests {
    func options(_ arguments: String...) throws -> TableOptions { try TableOptions.parse(arguments) }

    @Test func `the explain command prints a match with its values and no error`() throws {
        let answer = Answer(of: "app://user/7?x=1", routes: ["/user/<int:id>"], in: try self.options().table)
        #expect(answer.matched == "/user/<int:id>")
        #expect(answer.parameters == ["id": "7", "x": "1"])
        #expect(answer.error == nil)
        #expect(answer.trace?.isEmpty == false)
    }

    @Test func `the explain command prints a URL without a match as null with a reason`() throws {
        let json = try Answer(of: "/usr", routes: ["/user"], in: try self.options().table).json(pretty: false)
        #expect(json.contains("\"matched\":null"))
        #expect(json.contains("did you mean /user?"))
    }

    @Test func `the explain command answers each case on one line`() throws {
        let cases = """
            [{"id": "a", "routes": ["/a/:x", "/a/b"], "url": "/a/b", "conventions": "waybill", "expect": {}},
             {"id": "b", "routes": ["YF://u/:id"], "url": "yf://u/1?k", "conventions": "yf-router", "options": {}}]
            """
        try self.withFile(cases) { file in
            let lines = try ExplainCommand.parse(["--cases", file]).lines(ofFile: file)
            #expect(
                lines == [
                    #"{"error":null,"id":"a","matched":"/a/b","parameters":{}}"#,
                    #"{"error":null,"id":"b","matched":"YF://u/:id","parameters":{"id":"1"}}"#,
                ]
            )
        }
    }

    @Test(arguments: ["[", "{}", #"[{"routes": ["/a"]}]"#])
    func `the explain command's error names the file without cases`(text: String) throws {
        try self.withFile(text) { file in
            let error = #expect(throws: FileError.self) {
                try ExplainCommand.parse(["--cases", file]).run()
            }
            #expect(error?.description.hasPrefix("\(file): ") == true)
            #expect(error?.status == .invalid)
        }
    }

    private func withFile(_ text: String, _ body: (String) throws -> Void) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "waybill-\(UUID())").path
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        try body(file)
    }
}
#endif
