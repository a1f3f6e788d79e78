import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

@testable import WaybillServe

@Suite(.timeLimit(.minutes(1)))
struct AccessTests {
    @Test
    func `a server on TCP requires a token, unless loopback is admitted without one`() async throws {
        let bus = MessageBus(configuration: .quiet)
        for address in [StreamAddress.tcp("127.0.0.1", port: 0), .tcp("0.0.0.0", port: 0)] {
            let server = RPCServer(bus, listening: address, configuration: .quiet)
            let error = await failure { try await server.start() }
            #expect(error?.code == .refused)
        }
        var configuration = RPCServer.Configuration.quiet
        configuration.admitsLoopbackWithoutToken = true
        let everywhere = RPCServer(bus, listening: .tcp("0.0.0.0", port: 0), configuration: configuration)
        #expect(await failure { try await everywhere.start() }?.code == .refused)
        try await withServer(at: .tcp("localhost", port: 0), configuration: configuration) { served in
            let lines = try await served.ask(#"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#)
            #expect(lines.first?.contains("pong") == true)
        }
        await bus.shutDown()
    }

    @Test(arguments: ["%CC%81", "\u{301}", "%cc%81\u{301}"])
    func `a URL with many combining marks is rejected, also if they are encoded`(mark: String) async throws {
        try await withServer { served in
            try served.bus.register("app://user/:id") { message -> Int in try message.argument("id") }
            try served.bus.expose("app://user/:id")
            let few = try await served.ask(
                #"{"jsonrpc":"2.0","id":1,"method":"app://user/\#(String(repeating: mark, count: 3))"}"#
            )
            #expect(few.first?.contains("expected Int") == true, "\(few)")
            let many = try await served.ask(
                #"{"jsonrpc":"2.0","id":1,"method":"app://user/\#(String(repeating: mark, count: 31))"}"#
            )
            #expect(many.first?.contains("combining marks") == true, "\(many)")
        }
    }

    @Test
    func `the token must be the first message, and any other message closes the connection`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.token = "correct horse"
        try await withServer(at: .tcp("127.0.0.1", port: 0), configuration: configuration) { served in
            try served.bus.register("app://a") { $0.origin.description }
            try served.bus.expose("app://**", for: .all)
            let call = #"{"jsonrpc":"2.0","id":1,"method":"app://a"}"#
            let token =
                #"{"jsonrpc":"2.0","id":2,"method":"$/authenticate","params":{"token":"correct horse"}}"#
            let first = [
                (call, -32002), ("[\(call)]", -32002), ("[1,1]", -32600), ("[\(call),\(token)]", -32002),
                ("{}", -32600), ("[]", -32600), ("{1}", -32700),
                ("{\"a\":\"\(String(repeating: "x", count: 5000))\"}", -32600),
            ]
            for (message, expected) in first {
                let client = try await served.client()
                try await client.send(message)
                let line = try await client.line()
                #expect(line?.contains(#""code":\#(expected)"#) == true, "\(message.prefix(40))")
                try? await client.send(token)
                #expect(await client.isClosed(), "\(message.prefix(40))")
            }
            // A notification has no answer.
            for message in [
                #"{"jsonrpc":"2.0","method":"app://a"}"#, #"{"jsonrpc":"2.0","id":1,"result":1}"#,
            ] {
                let client = try await served.client()
                try await client.send(message)
                #expect(await client.isClosed(), "\(message)")
            }
            #expect(served.bus.statistics.sent == 0)
            let client = try await served.client()
            try await client.send(token)
            #expect(try await client.line() == #"{"jsonrpc":"2.0","id":2,"result":true}"#)
            // The small limit applies only until the token has arrived.
            let text = String(repeating: "x", count: 100_000)
            try await client.send(
                #"{"jsonrpc":"2.0","id":3,"method":"app://a","params":{"text":"\#(text)"}}"#
            )
            #expect(try await client.line()?.contains("tcp:127.0.0.1") == true)
            #expect(served.bus.statistics.sent == 1)
            for token in [#""wrong""#, #""correct horse2""#, #""""#, "7", "null"] {
                let client = try await served.client()
                try await client.send(
                    #"{"jsonrpc":"2.0","id":1,"method":"$/authenticate","params":{"token":\#(token)}}"#
                )
                let line = try await client.line()
                #expect(code(line) == -32002, "\(line ?? "nothing")")
                #expect(await client.isClosed())
            }
        }
    }

    @Test
    func `only its owner can use a Unix socket, and another user receives an error`() async throws {
        try await withServer { served in
            guard case .unix(let path) = served.address else {
                Issue.record("the server does not listen on a Unix socket")
                return
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        var configuration = RPCServer.Configuration.quiet
        configuration.allowedUserIDs = [12_345]
        try await withServer(configuration: configuration) { served in
            let client = try await served.client()
            #expect(code(try await client.line()) == -32002)
            #expect(await client.isClosed())
            #expect(served.server.statistics.refusedConnections == 1)
            let near = MessageBus(configuration: .quiet)
            try near.connect("far", to: RPCConnector(served.address, configuration: .quiet))
            let error = await failure { try await near.route("far://a") }
            #expect(error?.code == .refused && error?.message.contains("is not admitted") == true)
            await near.shutDown()
        }
    }

    @Test(arguments: [("abc", "abc", true), ("abc", "abd", false), ("abc", "abcabc", false), ("", "", false)])
    func `a token matches only when the whole text is equal`(token: String, candidate: String, matches: Bool)
    {
        #expect(BearerToken(token).matches(candidate) == matches)
    }
}
