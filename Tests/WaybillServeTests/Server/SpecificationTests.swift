import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillJSON
import WaybillTestSupport

@testable import WaybillServe

/// The examples of the JSON-RPC 2.0 specification, in its order.
@Suite(.timeLimit(.minutes(1)))
struct SpecificationTests {
    private func withExamples(_ body: (Served) async throws -> Void) async throws {
        try await withServer { served in
            try served.bus.register("app://subtract") { message -> Int in
                if let minuend = message.parameters["minuend"].flatMap({ Int($0) }) {
                    return minuend - (try message.parameters.require("subtrahend", as: Int.self))
                }
                let first = try message.parameters.require("0", as: Int.self)
                return first - (try message.parameters.require("1", as: Int.self))
            }
            try served.bus.register("app://sum") { message -> Int in
                (0..<3).reduce(0) { $0 + (Int(message.parameters["\($1)"] ?? "") ?? 0) }
            }
            try served.bus.register("app://get_data") { _ -> [any Sendable] in ["hello", 5] }
            for name in ["update", "notify_hello", "notify_sum"] {
                try served.bus.register("app://\(name)") { _ in }
            }
            for name in ["subtract", "sum", "get_data", "update", "notify_hello", "notify_sum"] {
                try served.bus.expose("app://\(name)", for: [.calls, .sends])
            }
            try await body(served)
        }
    }

    @Test(arguments: [
        // Calls with positional and with named parameters.
        (
            #"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#,
            #"{"jsonrpc":"2.0","id":1,"result":19}"#
        ),
        (
            #"{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}"#,
            #"{"jsonrpc":"2.0","id":2,"result":-19}"#
        ),
        (
            #"{"jsonrpc":"2.0","method":"subtract","params":{"subtrahend":23,"minuend":42},"id":3}"#,
            #"{"jsonrpc":"2.0","id":3,"result":19}"#
        ),
        (
            #"{"jsonrpc":"2.0","method":"subtract","params":{"minuend":42,"subtrahend":23},"id":4}"#,
            #"{"jsonrpc":"2.0","id":4,"result":19}"#
        ),
        // IDs of every kind are returned unchanged.
        (
            #"{"jsonrpc":"2.0","method":"get_data","id":"a\"é"}"#,
            #"{"jsonrpc":"2.0","id":"a\"é","result":["hello",5]}"#
        ),
        (
            #"{"jsonrpc":"2.0","method":"get_data","id":1.5e3}"#,
            #"{"jsonrpc":"2.0","id":1.5e3,"result":["hello",5]}"#
        ),
        (
            #"{"jsonrpc":"2.0","method":"update","id":null}"#,
            #"{"jsonrpc":"2.0","id":null,"result":null}"#
        ),
    ])
    func `the examples of calls in the JSON-RPC specification are answered as specified`(
        request: String,
        response: String
    ) async throws {
        try await self.withExamples { served in
            let lines = try await served.ask(request)
            #expect(lines == [response])
        }
    }

    @Test(arguments: [
        (#"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#, -32601, #""id":"1""#),
        (#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#, -32700, #""id":null"#),
        (#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#, -32600, #""id":null"#),
        (
            #"[{"jsonrpc":"2.0","method":"sum","params":[1,2,4],"id":"1"},{"jsonrpc":"2.0","method""#,
            -32700, #""id":null"#
        ),
        (#"{"jsonrpc":"2.0","method":"sum","params":["\ud83d"],"id":"a"}"#, -32700, #""id":"a""#),
        (#"{"jsonrpc":"2.0","id": 9 ,"method":"sum","params":[1,]}"#, -32700, #""id":9"#),
        (#"{"a":{"id":1},"b":"\"id\":2","id":[3],"params":[01]}"#, -32700, #""id":null"#),
        ("[]", -32600, #""id":null"#),
        (#"{"jsonrpc":"1.0","method":"sum","id":9}"#, -32600, #""id":9"#),
        (#"{"jsonrpc":"2.0","method":"sum","params":7,"id":9}"#, -32600, #""id":9"#),
        (#"{"jsonrpc":"2.0","method":"sum","id":{}}"#, -32600, #""id":null"#),
        (#"{"jsonrpc":"2.0","method":"sum","method":"sum","id":9}"#, -32600, #""id":9"#),
        (#"{"jsonrpc":"2.0","method":"subtract","params":["x",1],"id":9}"#, -32602, #""id":9"#),
        (#"{"jsonrpc":"2.0","method":"subtract","id":9}"#, -32602, #""id":9"#),
    ])
    func `the examples of errors in the JSON-RPC specification have the specified codes`(
        request: String,
        expected: Int,
        id: String
    ) async throws {
        try await self.withExamples { served in
            let line = try await served.ask(request).first
            #expect(code(line) == expected && line?.contains(id) == true, "\(line ?? "")")
        }
    }

    @Test
    func `JSON-RPC notifications are not answered, alone or in a batch`() async throws {
        try await self.withExamples { served in
            let lines = try await served.ask(
                #"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}"#,
                #"{"jsonrpc": "2.0", "method": "foobar"}"#,
                #"[{"jsonrpc":"2.0","method":"notify_sum","params":[1,2,4]},{"jsonrpc":"2.0","method":"notify_hello","params":[7]}]"#,
                #"{"jsonrpc":"2.0","method":"$/ping","id":1}"#,
                answers: 1
            )
            #expect(lines == [#"{"jsonrpc":"2.0","id":1,"result":"pong"}"#])
            #expect(await served.bus.settles())
            #expect(served.bus.statistics.replied == 3)
        }
    }

    @Test
    func `a JSON-RPC batch has one answer, with an error for each invalid element`() async throws {
        try await self.withExamples { served in
            let invalid = try await served.ask("[1]", "[1,2,3]")
            #expect(invalid.map { $0.split(separator: "-32600").count - 1 } == [1, 3])
            let line = try await served.ask(
                """
                [{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},\
                {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},\
                {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},\
                {"foo": "boo"},\
                {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},\
                {"jsonrpc": "2.0", "method": "get_data", "id": "9"}]
                """
            ).first
            let answers = JSONText(Array((line ?? "").utf8)).elements ?? []
            // The specification permits the answers in any order.
            let codes = answers.map { answer in
                let id = answer.member(named: "id")?.string ?? "null"
                return "\(id) \(answer.member(named: "error")?.member(named: "code")?.int ?? 0)"
            }
            #expect(codes.sorted() == ["1 0", "2 0", "5 -32601", "9 0", "null -32600"])
            let sum = answers.first { $0.member(named: "id")?.string == "1" }
            #expect(sum?.member(named: "result")?.int == 7)
        }
    }

    @Test
    func `calls in Content-Length frames are answered in Content-Length frames`() async throws {
        try await self.withExamples { served in
            let client = try await served.client()
            let body = #"{"jsonrpc":"2.0","method":"subtract","params":[42,23],"id":1}"#
            let frame = "Content-Length: \(body.utf8.count)\r\nContent-Type: application/json\r\n\r\n\(body)"
            try await client.connection.write(Array((frame + frame).utf8))
            let answer = #"{"jsonrpc":"2.0","id":1,"result":19}"#
            let expected = "Content-Length: \(answer.utf8.count)\r\n\r\n\(answer)"
            var received = ""
            while received.utf8.count < 2 * expected.utf8.count,
                let bytes = try await client.connection.read()
            {
                received += String(decoding: bytes, as: UTF8.self)
            }
            #expect(received == expected + expected)
        }
    }

    @Test
    func `the documentation page about errors has the numbers of each code`() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/Waybill/Waybill.docc/Errors.md").standardizedFileURL
        let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("| `") }
            .map { row in row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        try #require(rows.map(\.count) == RoutingError.Code.all.map { _ in 5 })
        for (row, code) in zip(rows, RoutingError.Code.all) {
            #expect(row[3] == "\(code.httpStatus)" && row[4] == "\(code.rpcCode)", "\(code)")
        }
    }
}
