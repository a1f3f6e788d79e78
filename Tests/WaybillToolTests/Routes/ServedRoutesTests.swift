#if Tool
import ArgumentParser
import Foundation
import Testing
import Waybill
import WaybillServe

@testable import WaybillTool

@Suite struct ServedRoutesTests {
    @Test func `the routes command lists only a server's exposed routes`() async throws {
        try await withServedBus { bus, connection in
            try bus.register("app://user/:uid") { _ in }
            try bus.register("app://admin/reset") { _ in }
            try bus.expose("app://user/**")
            let client = try connection.client()
            defer { client.close() }
            let reply = try await client.request("$/routes")
            let served = try JSONDecoder().decode(ServedRoutes.self, from: Data(reply.utf8))
            #expect(served.routes.map(\.pattern) == ["app://user/:uid"])
        }
    }

    @Test func `the columns of routes are aligned, with the first line of each documentation`() throws {
        let text = """
            [{"pattern":"app://a","documentation":"One.\\nTwo.","parameters":[{"name":"n","type":"Int"}]},
             {"pattern":"app://long","parameters":[]}]
            """
        let served = try JSONDecoder().decode(ServedRoutes.self, from: Data(text.utf8))
        #expect(served.lines == ["app://a     n: Int  One.", "app://long"])
    }

    @Test(arguments: [[], ["a.txt", "--connect", "b"], ["a.txt", "--json"]])
    func `the routes command needs a file or a server`(arguments: [String]) {
        #expect(throws: (any Error).self) { try RoutesCommand.parse(arguments) }
    }
}
#endif
