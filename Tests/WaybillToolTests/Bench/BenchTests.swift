#if Tool
import ArgumentParser
import Foundation
import Testing
import Waybill
import WaybillRouting
import WaybillServe

@testable import WaybillTool

@Suite struct BenchTests {
    @Test(arguments: [1, 8]) func `the bench command counts each reply, and orders the percentiles`(
        inFlight: Int
    ) async throws {
        try await withServedBus { bus, connection in
            try bus.register("app://one") { _ in 1 }
            try bus.expose("app://one")
            let client = try connection.client()
            defer { client.close() }
            let load = BenchLoad(url: "app://one", options: RPCRequestOptions(), inFlight: inFlight)
            let report = try await load.run(200, on: client)
            #expect(report.replies == 200)
            #expect(report.failures == 0)
            #expect(report.rate > 0)
            #expect(report.microseconds(at: 50) > 0)
            #expect(report.microseconds(at: 50) <= report.microseconds(at: 100))
            #expect(report.lines.first?.hasPrefix("200 replies, 0 failures, \(inFlight) in flight: ") == true)
            let members = try JSONSerialization.jsonObject(with: Data(report.json.utf8)) as? [String: Any]
            #expect(members?["replies"] as? Int == 200)
        }
    }

    @Test(arguments: ["0", "65537", "\(Int.max)"])
    func `the bench command rejects a number of calls in flight for which there is no memory`(number: String)
    {
        #expect(throws: (any Error).self) {
            try BenchCommand.parse(["app://one", "--connect", "s", "--in-flight", number])
        }
    }

    @Test func `the help of the bench command names its limits`() {
        #expect(BenchCommand.helpMessage(columns: 1000).contains("from 1 to 65536"))
    }

    @Test func `the bench command counts failures, and keeps the first one`() async throws {
        try await withServedBus { bus, connection in
            let client = try connection.client()
            defer { client.close() }
            let load = BenchLoad(url: "app://none", options: RPCRequestOptions(), inFlight: 2)
            let report = try await load.run(10, on: client)
            #expect(report.failures == 10)
            #expect(report.firstFailure?.code == .noRoute)
        }
    }
}
#endif
