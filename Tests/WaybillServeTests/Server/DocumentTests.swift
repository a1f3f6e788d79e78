import Synchronization
import Testing
import Waybill
import WaybillTestSupport

@testable import WaybillServe

/// The method `$/document`, whose text is prepared without decoding types again.
@Suite(.timeLimit(.minutes(1)))
struct DocumentTests {
    /// A type that counts how often it is decoded.
    struct Counted: Codable, Sendable {
        static let count = Atomic(0)

        let text: String

        init(text: String) { self.text = text }

        enum CodingKeys: CodingKey { case text }

        init(from decoder: any Decoder) throws {
            Self.count.add(1, ordering: .relaxed)
            self.text = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .text)
        }
    }

    private let request = #"{"jsonrpc":"2.0","id":1,"method":"$/document"}"#

    @Test
    func `a server's document decodes each type once, and follows changes of the routes`()
        async throws
    {
        try await withServer { served in
            try served.bus.register("app://counted/:id") { _ in Counted(text: "") }
            #expect(try await !served.ask(self.request)[0].contains("Counted"))
            #expect(Counted.count.load(ordering: .relaxed) == 0)
            let exposure = try served.bus.expose("app://counted/**")
            #expect(try await served.ask(self.request)[0].contains(#""Counted":{"properties":{"text""#))
            let count = Counted.count.load(ordering: .relaxed)
            #expect(count > 0)
            for _ in 0..<3 { _ = try await served.ask(self.request, self.request) }
            #expect(Counted.count.load(ordering: .relaxed) == count)
            exposure.cancel()
            #expect(try await !served.ask(self.request)[0].contains("Counted"))
        }
    }
}
