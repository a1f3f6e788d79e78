#if Tool
import Foundation
import Testing
import Waybill
import WaybillRouting
import WaybillServe
import WaybillTestSupport

@testable import WaybillTool

@Suite struct WatchTests {
    @Test func `watched messages are JSON without the subscription's number, until the server ends`()
        async throws
    {
        let messages = AsyncStream<String?>.makeStream()
        try await withServedBus { bus, connection in
            try bus.expose("app://prices/:symbol", for: [.subscribing])
            let client = try connection.client()
            defer { client.close() }
            await client.takeMessages { messages.continuation.yield($0) }
            var options = RPCRequestOptions()
            options.parameters = "{\"pattern\": \"app://prices/:symbol\"}"
            _ = try await client.request("$/subscribe", options)
            #expect(try await bus.publish("app://prices/kettle?price=4") == 1)
            var iterator = messages.stream.makeAsyncIterator()
            let text = try #require(await iterator.next() ?? nil)
            let members = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            #expect(members?["url"] as? String == "app://prices/kettle?price=4")
            #expect(members?["subscription"] == nil)
            #expect((members?["parameters"] as? [String: String])?["symbol"] == "kettle")
            await bus.shutDown()
            #expect(await iterator.next() == .some(nil))
        }
    }

    @Test func `the watch view has the counts by URL, the rate, and the last messages`() {
        var view = WatchView(["app://**"])
        for number in 0..<10 { view.note("{\"url\":\"app://a?n=\(number)\"}", at: 100) }
        view.note("{\"url\":\"app://b\"}", at: 101)
        let lines = view.lines(columns: 40, rows: 10, at: 101)
        #expect(lines.first == "app://**: 11 messages, 2.2/s")
        #expect(lines[1] == "       10  app://a")
        #expect(lines[2] == "        1  app://b")
        #expect(lines.last == "{\"url\":\"app://b\"}")
        #expect(lines.count < 10)
        #expect(view.lines(columns: 40, rows: 10, at: 200).first == "app://**: 11 messages, 0.0/s")
    }

    @Test func `the watch view cuts a line that is too long for the terminal`() {
        var view = WatchView(["app://**"])
        view.note("{\"url\":\"app://\(String(repeating: "x", count: 100))\"}", at: 0)
        let lines = view.lines(columns: 20, rows: 10, at: 0)
        #expect(lines.allSatisfy { $0.count < 20 } && lines.contains { $0.contains("app://x") })
    }

    @Test func `the watch view is drawn over the previous one`() {
        var screen = Screen()
        // The terminal must not wrap a line, because the cursor would then go up too few rows.
        #expect(screen.text(for: ["a", "b"]) == "\u{1B}[?7l\r\u{1B}[Ja\nb\n\u{1B}[?7h")
        #expect(screen.text(for: ["c"]) == "\u{1B}[?7l\u{1B}[2A\r\u{1B}[Jc\n\u{1B}[?7h")
    }
}
#endif
