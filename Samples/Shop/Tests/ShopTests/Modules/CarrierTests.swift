import Carriers
import Foundation
import Testing
import Waybill

@Suite
struct CarrierTests {
    @Test func `a component without the bus as a dependency answers URLs`() async throws {
        let shop = try await OpenShop()
        let quote: Quote = try await shop.bus.route("app://shipping/quote/no?grams=1200")
        #expect(quote == Quote(cents: 830, days: 2) && "\(quote)" == "8.30, 2 days")
    }

    @Test(arguments: [
        ("xx?grams=1", "the carrier does not deliver to xx"), ("de?grams=0", "a parcel cannot weigh 0 g"),
    ])
    func `a rejected quote fails with refused, and its cause is the carrier's error`(
        url: String,
        sentence: String
    ) async throws {
        let shop = try await OpenShop()
        let error = await #expect(throws: RoutingError.self) {
            try await shop.bus.route("app://shipping/quote/\(url)")
        }
        #expect(error?.code == .refused)
        let cause = try #require(error?.cause as? CarrierError)
        #expect("\(cause)".hasPrefix(sentence))
    }

    @Test func `the carrier component imports no module`() throws {
        let folder = URL(filePath: #filePath).appending(path: "../../../../Sources/Carriers").standardized
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            let code = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter {
                !$0.trimmingCharacters(in: .whitespaces).hasPrefix("//")
            }
            #expect(!code.contains { $0.contains("import ") })
        }
    }
}
