import Foundation
import Testing
import WaybillRouting

@Suite struct RoutingErrorCodeTests {
    @Test func `the list of error codes is complete`() throws {
        let source = try Self.text(at: "WaybillRouting/Errors/RoutingError+Code.swift")
        let declared = source.matches(of: #/public static let \w+ = Self\("(\w+)"\)/#).map { String($0.1) }
        #expect(declared.count > 10)
        #expect(declared == RoutingError.Code.all.map(\.description))
    }

    @Test func `the documentation has a row for each error code`() throws {
        let rows = try Self.text(at: "Waybill/Waybill.docc/Errors.md").split(separator: "\n")
            .filter { $0.hasPrefix("| `") }
            .map { row in row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        #expect(rows.map { $0[0] } == RoutingError.Code.all.map { "`\($0)`" })
        for (row, code) in zip(rows, RoutingError.Code.all) {
            #expect(row.count == 5 && !row.contains(""), "\(code) lacks a column")
        }
    }

    @Test func `the C host API has a status for each error code`() throws {
        let header = try Self.text(at: "CWaybill/include/waybill.h")
        let statuses = try Self.text(at: "WaybillC/HostStatus.swift")
        for code in RoutingError.Code.all {
            let words = code.description.replacing(#/[a-z](?=[A-Z])/#) { "\($0.output)_" }
            let name = "WAYBILL_\(words.uppercased())"
            #expect(header.contains("    \(name) = -"), "\(code) is missing")
            #expect(statuses.contains("(.\(code), Self(\(name)))"), "\(code) is missing")
        }
    }

    private static func text(at path: String) throws -> String {
        try String(contentsOf: Self.sources.appending(path: path), encoding: .utf8)
    }

    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Sources").standardizedFileURL
}
