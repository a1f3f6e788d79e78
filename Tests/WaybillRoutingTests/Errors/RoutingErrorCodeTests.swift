import Foundation
import Testing
import WaybillRouting

@Suite struct RoutingErrorCodeTests {
    @Test func `no code is missing from the list`() throws {
        let source = try String(
            contentsOf: Self.sources.appending(path: "WaybillRouting/Errors/RoutingError+Code.swift"),
            encoding: .utf8
        )
        let declared = source.matches(of: #/public static let \w+ = Self\("(\w+)"\)/#).map { String($0.1) }
        #expect(declared.count > 10)
        #expect(declared == RoutingError.Code.all.map(\.description))
    }

    @Test func `the documentation has a row for each code`() throws {
        let page = Self.sources.appending(path: "Waybill/Waybill.docc/Errors.md")
        let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("| `") }
            .map { row in row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        #expect(rows.map { $0[0] } == RoutingError.Code.all.map { "`\($0)`" })
        for (row, code) in zip(rows, RoutingError.Code.all) {
            #expect(row.count == 6 && !row.contains(""), "\(code) lacks a column")
        }
    }

    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Sources").standardizedFileURL
}
