import Testing
import Waybill

@testable import Shop

@Suite
struct RouteReportTests {
    @Test func `the table names patterns, parameters and places`() throws {
        let lines = RouteReport.table(try Storefront().bus.routes).split(separator: "\n")
        #expect(lines.count == 27)
        #expect(lines[0].hasPrefix("PATTERN "))
        #expect(
            lines.contains {
                $0.hasPrefix("app://catalog/category/:name  name: string  Catalog/CatalogModule.swift:")
            }
        )
        #expect(!lines.contains { $0.hasSuffix(" ") })
    }
}
