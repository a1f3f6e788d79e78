import Foundation
import Logging
import Testing
import Waybill
import WaybillEventLoop
import WaybillJSON
import WaybillTestSupport

@testable import WaybillServe

@Suite(.timeLimit(.minutes(1)))
struct ServerTests {
    struct User: Codable, Sendable, Equatable {
        let name: String
        var friends: [User] = []
    }

    @Test
    func `the document of the exposed routes is one line, and omits the other routes`() async throws {
        try await withServer { served in
            try served.bus.register("app://user/:id") { _ in 1 }
            try served.bus.register("app://user/:id/secret") { _ in 2 }
            try served.bus.expose("app://user/:id")
            let lines = try await served.ask(
                #"{"jsonrpc":"2.0","id":1,"method":"$/document"}"#,
                #"{"jsonrpc":"2.0","id":2,"method":"$/ping"}"#
            )
            // The server may have to generate the document first, so its answer may be the second one.
            let document = try #require(lines.first { $0.contains(#""id":1"#) })
            #expect(document.contains(#""pattern":"app://user/:id""#) && !document.contains("secret"))
            #expect(lines.contains { $0.contains("pong") })
        }
    }

    @Test
    func `a peer's call of a URL that is not exposed fails like a URL that does not exist`() async throws {
        try await withServer { served in
            try served.bus.register("app://user/:id") { _ in 1 }
            try served.bus.register("app://user/:id/secret") { _ in 2 }
            try served.bus.expose("app://user/:id")
            let lines = try await served.ask(
                #"{"jsonrpc":"2.0","id":1,"method":"app://user/7/secret"}"#,
                #"{"jsonrpc":"2.0","id":1,"method":"app://user/7/absence"}"#,
                #"{"jsonrpc":"2.0","id":1,"method":"$/routes"}"#,
                #"{"jsonrpc":"2.0","id":1,"method":"$/explain","params":{"url":"app://user/7/secret"}}"#,
                #"{"jsonrpc":"2.0","id":1,"method":"app://usr/7"}"#
            )
            #expect(code(lines[0]) == -32601)
            #expect(lines[0] == lines[1].replacing("absence", with: "secret"))
            #expect(lines[2].contains("app://user/:id") && !lines[2].contains("secret"))
            #expect(lines[3].contains("-32601") && !lines[3].contains(#""pattern""#))
            #expect(lines[4].contains(#""suggestions":["app://user/:id"]"#))
        }
    }

    @Test(arguments: [
        ("12.34", "12.34 12.34 12.34"), ("3", "3 3.0 3.0"),
        ("0.1234567890123456789", "0.1234567890123456789 0.12345679 0.12345678901234568"),
        ("-0", "0 -0.0 -0.0"),
    ])
    func `a peer's number is a parameter of each numeric type`(number: String, seen: String) async throws {
        try await withServer { served in
            try served.bus.register("app://numbers") { message -> String in
                let decimal: Decimal = try message.argument("v")
                let float: Float = try message.argument("v")
                let double: Double = try message.argument("v")
                return "\(decimal) \(float) \(double)"
            }
            try served.bus.expose("app://**")
            let lines = try await served.ask(
                #"{"jsonrpc":"2.0","id":1,"method":"app://numbers","params":{"v":\#(number)}}"#
            )
            #expect(lines[0].contains("\"\(seen)\""), "\(lines[0])")
        }
    }

    @Test
    func `parameters, headers, hops, deadline and origin reach the handler of a peer's request`() async throws
    {
        try await withServer { served in
            let seen = Journal<Message>()
            try served.bus.register("app://user/:id") { message -> User in
                seen.add(message)
                var user: User = try message.argument("user")
                user.friends.append(User(name: message.parameters["id"] ?? ""))
                return user
            }
            try served.bus.expose("app://user/:id")
            let lines = try await served.ask(
                #"""
                {"jsonrpc":"2.0","id":1,"method":"app://user/7?a=1","params":{"user":{"name":"Lili","friends":[]},\#
                "flag":true,"ratio":1.5,"none":null,"$waybill":{"headers":{"traceparent":"00-1"},"timeLeft":60000,"hops":3}}}
                """#.replacing("\n", with: "")
            )
            let result = JSONText(Array((lines.first ?? "").utf8)).member(named: "result")
            let user = User(name: "Lili", friends: [User(name: "7")])
            #expect(try result?.decoded(as: User.self) == user)
            let message = try #require(seen.entries.first)
            #expect(message.parameters["flag"] == "true" && message.parameters["ratio"] == "1.5")
            #expect(message.parameters["none"] == nil && message.parameters["a"] == "1")
            #expect(message.headers == ["traceparent": "00-1"] && message.hops == 3)
            #expect(message.deadline.map { $0 > .now + .seconds(30) && $0 < .now + .seconds(61) } == true)
            #expect(message.origin.transport == "unix" && message.origin.userID != nil)
        }
    }

    @Test
    func `an error for a peer does not reveal internals, and the log has the cause`() async throws {
        struct Secret: Error { let password = "s3cret" }
        let log = Journal<String>()
        var configuration = RPCServer.Configuration()
        configuration.logger = .init(label: "test") { _ in JournalLogHandler(journal: log) }
        try await withServer(configuration: configuration) { served in
            try served.bus.register("app://fail") { _ -> Int in throw Secret() }
            try served.bus.register("app://opaque") { _ in { @Sendable in } as @Sendable () -> Void }
            try served.bus.register("app://no") { _ -> Int in throw RoutingError.refused("not today") }
            try served.bus.expose("app://**")
            let lines = try await served.ask(
                #"{"jsonrpc":"2.0","id":1,"method":"app://fail"}"#,
                #"{"jsonrpc":"2.0","id":2,"method":"app://opaque"}"#,
                #"{"jsonrpc":"2.0","id":3,"method":"app://no"}"#
            )
            #expect(lines.map { code($0) } == [-32000, -32603, -32002])
            #expect(!lines[0].contains("s3cret") && !lines[0].contains("Secret"))
            #expect(lines[1].contains("notTransferable") && lines[2].contains("not today"))
            let error = json(lines[0])["error"] as? [String: any Sendable]
            let reference = (error?["data"] as? [String: any Sendable])?["reference"] as? String
            #expect(log.entries.contains { $0.contains("s3cret") && $0.contains(reference ?? "-") })
        }
    }

    @Test
    func `a deadline or a cancellation by the peer ends its request`() async throws {
        try await withServer { served in
            let cancelled = Journal<String>()
            try served.bus.register("app://wait") { message in
                do { try await hang() } catch { cancelled.add(message.parameters["n"] ?? "") }
            }
            try served.bus.expose("app://**")
            let client = try await served.client()
            try await client.send(
                #"{"jsonrpc":"2.0","id":1,"method":"app://wait?n=1","params":{"$waybill":{"timeLeft":2000}}}"#
            )
            #expect(code(try await client.line()) == -32003)
            try await client.send(#"{"jsonrpc":"2.0","id":"x","method":"app://wait?n=2"}"#)
            try await client.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"x"}}"#)
            #expect(code(try await client.line()) == -32004)
            try await client.send(#"{"jsonrpc":"2.0","id":3,"method":"app://wait?n=3"}"#)
            try await client.send(#"{"jsonrpc":"2.0","id":3,"method":"app://wait"}"#)
            // The second request has an ID that is in flight.
            #expect(code(try await client.line()) == -32600)
            client.connection.close()
            for number in ["1", "2", "3"] { #expect(await cancelled.comes(to: number)) }
            #expect(await served.balances())
            #expect(served.server.statistics.abandoned == 1 && served.server.statistics.answers == 2)
        }
    }

    @Test
    func `an answer that cannot be read fails the progress reply of its handler`() async throws {
        try await withServer { served in
            try served.bus.register("app://ask") { message -> Bool in
                try await message.reply(with: 1, expecting: Bool.self)
            }
            try served.bus.expose("app://ask")
            let client = try await served.client()
            let params = #"{"$waybill":{"progress":true,"answers":true}}"#
            let deep = String(repeating: "[", count: 80) + String(repeating: "]", count: 80)
            let marks = "\"e" + String(repeating: "\u{301}", count: 40) + "\""
            for (id, value) in [(7, deep), (8, marks)] {
                try await client.send(
                    #"{"jsonrpc":"2.0","id":\#(id),"method":"app://ask","params":\#(params)}"#
                )
                #expect(try await client.line()?.contains("$/progress") == true)
                // An answer to another request, and a message with another method, change nothing.
                for start in [
                    #""method":"$/answer","params":{"id":9,"#, #""method":"$/ping","params":{"id":\#(id),"#,
                ] {
                    try await client.send(#"{"jsonrpc":"2.0",\#(start)"value":\#(value)}}"#)
                    #expect(code(try await client.line()) == -32700)
                }
                try await client.send(
                    #"{"jsonrpc":"2.0","method":"$/answer","params":{"id":\#(id),"value":\#(value)}}"#
                )
                let lines = try await client.lines(2)
                #expect(lines.contains { code($0) == -32700 }, "\(lines)")
                #expect(lines.contains { $0.contains(#""id":\#(id)"#) }, "\(lines)")
            }
        }
    }

    @Test
    func `progress replies arrive while the handler runs, and their answers reach the handler`() async throws
    {
        try await withServer { served in
            try served.bus.register("app://steps") { message -> [Bool] in
                var answers: [Bool] = []
                for step in 1...2 {
                    answers.append(try await message.reply(with: ["step": step], expecting: Bool.self))
                }
                return answers
            }
            try served.bus.register("app://tell") { message -> Int in
                await message.reply(with: "half")
                return 1
            }
            try served.bus.expose("app://**")
            let client = try await served.client()
            try await client.send(
                #"{"jsonrpc":"2.0","id":7,"method":"app://steps","params":{"$waybill":{"progress":true,"answers":true}}}"#
            )
            for step in 1...2 {
                let line = try await client.line()
                #expect(
                    line
                        == #"{"jsonrpc":"2.0","method":"$/progress","params":{"id":7,"value":{"step":\#(step)}}}"#
                )
                try await client.send(
                    #"{"jsonrpc":"2.0","method":"$/answer","params":{"id":7,"value":\#(step == 1)}}"#
                )
            }
            #expect(try await client.line() == #"{"jsonrpc":"2.0","id":7,"result":[true,false]}"#)
            // A handler continues when the client does not answer. Without `progress`, the client does not
            // receive its replies.
            try await client.send(
                #"{"jsonrpc":"2.0","id":8,"method":"app://tell","params":{"$waybill":{"progress":true}}}"#
            )
            let progress = try await client.line()
            #expect(progress?.contains(#""value":"half""#) == true)
            #expect(try await client.line()?.contains(#""result":1"#) == true)
            try await client.send(#"{"jsonrpc":"2.0","id":9,"method":"app://tell"}"#)
            #expect(try await client.line()?.contains(#""result":1"#) == true)
            // An error as the answer is thrown to the handler.
            try await client.send(
                #"{"jsonrpc":"2.0","id":10,"method":"app://steps","params":{"$waybill":{"progress":true,"answers":true}}}"#
            )
            _ = try await client.line()
            try await client.send(
                #"{"jsonrpc":"2.0","method":"$/answer","params":{"id":10,"error":{"code":1,"message":"no"}}}"#
            )
            #expect(code(try await client.line()) == -32002)
        }
    }

    @Test
    func `a handler that awaits an answer is cancelled at the deadline`() async throws {
        try await withServer { served in
            try served.bus.register("app://ask") { message in
                try await message.reply(with: 1, expecting: Int.self)
            }
            try served.bus.expose("app://**")
            let lines = try await served.ask(
                #"{"jsonrpc":"2.0","id":1,"method":"app://ask","params":{"$waybill":{"answers":true,"progress":true,"timeLeft":2000}}}"#,
                answers: 2
            )
            #expect(code(lines.last) == -32003)
            #expect(await served.balances())
        }
    }

    @Test
    func `a peer can publish and subscribe`() async throws {
        try await withServer { served in
            let heard = Journal<String>()
            try served.bus.subscribe("app://news/:topic") { heard.add($0.parameters["text"] ?? "") }
            try served.bus.expose("app://news/*", for: [.publishing, .subscribing])
            let client = try await served.client()
            try await client.send(
                #"{"jsonrpc":"2.0","id":1,"method":"$/subscribe","params":{"pattern":"app://news/:topic"}}"#
            )
            #expect(try await client.line() == #"{"jsonrpc":"2.0","id":1,"result":1}"#)
            try await client.send(
                #"{"jsonrpc":"2.0","id":2,"method":"$/publish","params":{"url":"app://news/a?n=1","parameters":{"text":"hi"},"$waybill":{"headers":{"h":"1"}}}}"#
            )
            let lines = try await client.lines(2).sorted()
            #expect(lines[0] == #"{"jsonrpc":"2.0","id":2,"result":2}"#)
            #expect(
                lines[1]
                    == #"{"jsonrpc":"2.0","method":"$/message","params":{"subscription":1,"url":"app://news/a?n=1","parameters":{"n":"1","text":"hi","topic":"a"},"$waybill":{"headers":{"h":"1"}}}}"#
            )
            #expect(heard.entries == ["hi"])
            try await served.bus.publish("app://hidden")
            try await client.send(
                #"{"jsonrpc":"2.0","id":3,"method":"$/unsubscribe","params":{"subscription":1}}"#
            )
            #expect(try await client.line() == #"{"jsonrpc":"2.0","id":3,"result":true}"#)
        }
    }

    @Test
    func `one request can publish several messages`() async throws {
        try await withServer { served in
            let heard = Journal<String>()
            try served.bus.subscribe("app://news/**") {
                heard.add("\($0.parameters["n"] ?? "-") \($0.headers["h"] ?? "-") \($0.address.text)")
            }
            try served.bus.expose("app://news/**", for: .publishing)
            let messages =
                #"[{"n":1},{},{"n":2,"$waybill":{"headers":{"h":"b"}}},{"$waybill":{"url":"app://news/b"}}]"#
            let params = #"{"url":"app://news/a","$waybill":{"headers":{"h":"a"}},"messages":\#(messages)}"#
            let lines = try await served.ask(
                #"{"jsonrpc":"2.0","id":1,"method":"$/publish","params":\#(params)}"#
            )
            #expect(lines == [#"{"jsonrpc":"2.0","id":1,"result":4}"#])
            let expected = ["1 a app://news/a", "- a app://news/a", "2 b app://news/a", "- - app://news/b"]
            #expect(heard.entries == expected)
            #expect(await served.balances())
            let client = try await served.client()
            try await client.send(#"{"jsonrpc":"2.0","method":"$/publish","params":\#(params)}"#)
            try await client.send(#"{"jsonrpc":"2.0","id":2,"method":"$/ping"}"#)
            #expect(try await client.line() == #"{"jsonrpc":"2.0","id":2,"result":"pong"}"#)
            #expect(heard.entries == expected + expected)
        }
    }

    @Test
    func `a message without a list has no reserved parameter, and a URL must be a text`() async throws {
        try await withServer { served in
            let heard = Journal<String>()
            try served.bus.subscribe("app://**") { heard.add($0.address.text) }
            try served.bus.expose("app://**", for: .publishing)
            func publish(_ params: String) async throws -> [String] {
                try await served.ask(#"{"jsonrpc":"2.0","id":1,"method":"$/publish","params":\#(params)}"#)
            }
            let own = #"{"url":"app://a","parameters":{"$waybill":{"url":"app://b"}}}"#
            #expect(try await publish(own) == [#"{"jsonrpc":"2.0","id":1,"result":1}"#])
            #expect(heard.entries == ["app://a"])
            let wrong = #"{"url":"app://a","messages":[{"$waybill":{"url":5}}]}"#
            #expect(code(try await publish(wrong).first) == -32602)
            #expect(heard.count == 1)
        }
    }

    @Test
    func `a publication that the loop interrupts reaches each subscriber before later ones`() async throws {
        try await withServer { served in
            let loop = served.bus.eventLoop
            let heard = Journal<Int>()
            // The first two subscribers use up the loop's budget, so that the loop polls after each of them.
            for _ in 0..<2 {
                try served.bus.subscribe("app://news") { message in
                    if try message.parameters.require("n") == 0 { while loop.consumeDeliveryBudget() {} }
                }
            }
            try served.bus.subscribe("app://news") { heard.add(try $0.parameters.require("n")) }
            try served.bus.register("app://note/:n") { heard.add(try $0.parameters.require("n")) }
            try served.bus.expose("app://news", for: .publishing)
            try served.bus.expose("app://note/**", for: .all)
            let client = try await served.client()
            let messages = (0..<2).map { #"{"n":\#($0)}"# }.joined(separator: ",")
            let params = #"{"url":"app://news","messages":[\#(messages)]}"#
            let lines = [
                #"{"jsonrpc":"2.0","method":"$/publish","params":\#(params)}"#,
                #"{"jsonrpc":"2.0","method":"$/publish","params":{"url":"app://news?n=2"}}"#,
                #"{"jsonrpc":"2.0","method":"app://note/3"}"#,
            ]
            try await client.send(lines.joined(separator: "\n"))
            #expect(await eventually { heard.count == 4 })
            #expect(heard.entries == [0, 1, 2, 3])
            #expect(await served.bus.settles())
        }
    }

    @Test
    func `a publication of 1,024 messages is accepted as a whole`() async throws {
        try await withServer { served in
            let heard = Tally()
            try served.bus.subscribe("app://news") { _ in heard.add() }
            try served.bus.expose("app://news", for: .publishing)
            let client = try await served.client()
            let messages = [String](repeating: "{}", count: 1024).joined(separator: ",")
            let line =
                #"{"jsonrpc":"2.0","method":"$/publish","params":{"url":"app://news","messages":[\#(messages)]}}"#
            try await client.send([String](repeating: line, count: 4).joined(separator: "\n"))
            #expect(await eventually { heard.count == 4096 }, "\(heard.count)")
        }
    }

    private static let misfits: [LongText] = [
        "[]", "{}", "1", "null", "[1]", "[{},null]", "[\(String(repeating: "{},", count: 1024)){}]",
    ]

    @Test(arguments: misfits)
    func `a publication with an invalid list of messages is rejected`(messages: LongText) async throws {
        try await withServer { served in
            let heard = Journal<String>()
            try served.bus.subscribe("app://news") { heard.add($0.address.text) }
            try served.bus.expose("app://news", for: .publishing)
            let params = #"{"url":"app://news","messages":\#(messages.text)}"#
            let lines = try await served.ask(
                #"{"jsonrpc":"2.0","id":1,"method":"$/publish","params":\#(params)}"#
            )
            #expect(code(lines.first) == -32602)
            #expect(lines.first?.contains("`messages` must be an array of 1 to 1024 objects") == true)
            #expect(heard.entries.isEmpty)
        }
    }

    @Test
    func `a return URL can belong to the peer, which receives the value before the response`() async throws {
        try await withServer { served in
            try served.bus.register("app://pay") { _ in ["total": 42] }
            try served.bus.register("app://hidden/store") { _ in }
            try served.bus.expose("app://pay")
            let lines = try await served.ask(
                #"{"jsonrpc":"2.0","id":5,"method":"app://pay#caller://home/receipt?x=1"}"#,
                answers: 2
            )
            #expect(
                lines == [
                    #"{"jsonrpc":"2.0","method":"caller://home/receipt?x=1","params":{"id":5,"$waybill":{"payload":{"total":42}}}}"#,
                    #"{"jsonrpc":"2.0","id":5,"result":{"total":42}}"#,
                ]
            )
            let letters = served.bus.deadLetters(limit: 10)
            _ = try await served.ask(#"{"jsonrpc":"2.0","id":5,"method":"app://pay#app://hidden/store"}"#)
            var letter = letters.makeAsyncIterator()
            #expect(await letter.next()?.url == "app://hidden/store")
        }
    }

    @Test
    func `a server's graceful shutdown answers requests in flight and rejects new ones`() async throws {
        try await withServer { served in
            let gate = Gate()
            try served.bus.register("app://slow") { _ -> Int in
                await gate.wait()
                return 1
            }
            try served.bus.expose("app://**")
            let client = try await served.client()
            try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"app://slow"}"#)
            await gate.reached()
            served.server.beginGracefulShutdown()
            await served.bus.eventLoop.run {}
            try await client.send(#"{"jsonrpc":"2.0","id":2,"method":"app://slow"}"#)
            #expect(code(try await client.line()) == -32009)
            gate.open()
            #expect(try await client.line() == #"{"jsonrpc":"2.0","id":1,"result":1}"#)
            #expect(await client.isClosed())
        }
    }
}
