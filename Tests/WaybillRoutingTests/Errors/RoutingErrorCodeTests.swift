import Foundation
import Testing
import WaybillRouting

@Suite struct RoutingErrorCodeTests {
    @Test func `no code is missing from the list`() throws {
        let source = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../Sources/WaybillRouting/Errors/RoutingError+Code.swift"),
            encoding: .utf8
        )
        let declared = source.matches(of: #/public static let \w+ = Self\("(\w+)"\)/#).map { String($0.1) }
        #expect(declared.count > 10)
        #expect(declared == RoutingError.Code.all.map(\.description))
    }
}
