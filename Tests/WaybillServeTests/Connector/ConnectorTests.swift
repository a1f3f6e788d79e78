import Foundation
import Logging
import Testing
import Waybill
import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

@testable import WaybillServe

/// The promises of a bus about its routes, when the handler is in another bus behind a connector.
///
/// There are three differences from a handler in the same process. Values are equal but not identical. A
/// failure has its code and its message but not its cause. A parameter that is not text must be `Encodable`.
@Suite(.timeLimit(.minutes(1)))
struct ConnectorTests {
    struct User: Codable, Sendable, Equatable {
        let uid: Int
        var name = "Lili"
    }

    /// Registers a handler that returns the size of a text, and a handler that returns 7 when a gate is open.
    private func registerSizeAndSlow(on bus: MessageBus, _ started: Gate, _ end: Gate) throws {
        try bus.register("far://size") { message -> Int in
            let text: String = try message.argument("text")
            return text.utf8.count
        }
        try bus.register("far://slow") { _ async -> Int in
            started.open()
            await end.wait()
            return 7
        }
    }

    /// Runs a closure with a bus whose scheme `far` is served by another bus.
    private func withConnector(
        _ body: (_ near: MessageBus, _ far: Served) async throws -> Void
    ) async throws {
        try await withServer { far in
            try far.bus.expose("far://**", for: .all)
            let near = MessageBus(configuration: .quiet)
            try near.connect("far", to: RPCConnector(far.address, configuration: .quiet))
            try await body(near, far)
            #expect(await near.settles())
            #expect(await far.bus.settles())
            await near.shutDown()
            #expect(await far.balances())
        }
    }

    @Test
    func `an error that a module declares keeps its type, its code and its message across a socket`()
        async throws
    {
        try await self.withConnector { near, far in
            try far.bus.register("far://orders/:id") { message -> Int in
                throw OrderError.unknown(id: try message.argument("id"))
            }
            try far.bus.register("far://shop") { _ async throws -> Int in throw OrderError.closed }
            let unknown = await #expect(throws: RoutingError.self) { try await near.route("far://orders/99") }
            #expect(unknown?.code == .handlerFailed && unknown?.message == "there is no order 99")
            #expect(unknown?.declared(as: OrderError.self) == .unknown(id: 99))
            await #expect(throws: OrderError.closed) {
                let _: Int = try await near.route("far://shop", throwing: OrderError.self)
            }
            // The second process passes the message of the first one on to a third process.
            let lines = try await far.ask(#"{"jsonrpc":"2.0","id":1,"method":"far://orders/5"}"#)
            #expect(
                lines == [
                    #"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"there is no order 5","#
                        + #""data":{"code":"handlerFailed","error":{"type":"OrderError","code":"unknown","#
                        + #""status":404,"value":{"unknown":{"id":5}}}}}}"#
                ]
            )
        }
    }

    @Test
    func `a value that the other process cannot read fails its own call only`() async throws {
        try await self.withConnector { near, far in
            let unreadable = "e" + String(repeating: "\u{301}", count: 40)
            let (started, end) = (Gate(), Gate())
            try far.bus.register("far://marks") { _ in unreadable }
            try self.registerSizeAndSlow(on: far.bus, started, end)
            async let slow: Int = near.route("far://slow")
            await started.wait()
            let sent = await failure { try await near.route("far://size", parameters: ["text": unreadable]) }
            #expect(sent?.message.contains("combining marks") == true, "\(String(describing: sent))")
            let received = await failure { try await near.route("far://marks") }
            #expect(received?.message.contains("combining marks") == true, "\(String(describing: received))")
            try far.bus.register("far://asks") { message -> Bool in
                try await message.reply(with: unreadable, expecting: Bool.self)
            }
            let asked = await failure {
                let _: Bool = try await near.route("far://asks") { (_: String) in true }
            }
            #expect(asked?.code == .refused, "\(String(describing: asked))")
            end.open()
            #expect(try await slow == 7)
        }
    }

    @Test
    func `a message that is larger than the server's limit fails its own call only`() async throws {
        try await self.withConnector { near, far in
            let large = String(repeating: "x", count: 2 << 20)
            let (started, end) = (Gate(), Gate())
            try self.registerSizeAndSlow(on: far.bus, started, end)
            async let slow: Int = near.route("far://slow")
            await started.wait()
            let sent = await failure { try await near.route("far://size", parameters: ["text": large]) }
            #expect(sent?.code == .notTransferable && sent?.message.contains("raise requestSize") == true)
            let answered = Journal<RoutingError.Code>()
            try far.bus.register("far://asks") { message -> Bool in
                do throws(RoutingError) {
                    let _: String = try await message.reply(with: 1, expecting: String.self)
                } catch {
                    answered.add(error.code)
                }
                return true
            }
            #expect(try await near.route("far://asks", as: Bool.self) { (_: Int) in large })
            // The answer is replaced by a failure, and a server reports each failure of an answer as a refusal.
            #expect(answered.entries == [.refused])
            end.open()
            #expect(try await slow == 7)
            #expect(far.server.statistics.connections == 1)
        }
    }

    @Test
    func `values of every kind pass through a connector and back`() async throws {
        try await self.withConnector { near, far in
            try far.bus.register("far://user/:uid") { message -> User in
                User(uid: try message.argument("uid"), name: message.parameters["name"] ?? "")
            }
            try far.bus.register("far://same") { message -> [User] in try message.argument("users") }
            try far.bus.register("far://nothing") { _ in }
            try far.bus.register("far://maybe") { message -> String? in message.parameters["text"] }
            try far.bus.register("far://plain") { _ -> [String: any Sendable] in
                ["a": [1, 2.5, "x"] as [any Sendable]]
            }
            let user: User = try await near.route("far://user/7?name=Lu")
            #expect(user == User(uid: 7, name: "Lu"))
            let users: [User] = try await near.route(
                "far://same",
                parameters: ["users": [user, User(uid: 8)]]
            )
            #expect(users == [user, User(uid: 8)])
            try await near.route("far://nothing", as: Void.self)
            #expect(try await near.route("far://maybe", as: String?.self) == nil)
            #expect(try await near.route("far://maybe?text=a", as: String?.self) == "a")
            let plain = try await near.route("far://plain").value(as: [String: any Sendable].self)
            #expect((plain["a"] as? [any Sendable])?.count == 3)
            let huge = String(repeating: "é\n\"", count: 100_000)
            #expect(try await near.route("far://maybe", parameters: ["text": huge], as: String.self) == huge)
            let wrong = await failure { try await near.route("far://user/7", as: Int.self) }
            #expect(wrong?.code == .typeMismatch)
        }
    }

    @Test
    func `a call with a value that cannot be encoded fails before a byte is sent`() async throws {
        try await self.withConnector { near, far in
            try far.bus.register("far://a") { _ in 1 }
            let done: @Sendable () -> Void = {}
            let parameters: [(String, any Sendable)] = [("done", done), ("$waybill", 1)]
            for (name, value) in parameters {
                let error = await failure { try await near.route("far://a", parameters: [name: value]) }
                #expect(error?.code == .notTransferable && error?.message.contains(name) == true)
            }
            #expect(far.server.statistics.connections == 0)
        }
    }

    @Test
    func `a failure behind a connector keeps its code, and names the caller's URL`() async throws {
        struct Broken: Error {}
        try await self.withConnector { near, far in
            try far.bus.register("far://fail") { _ -> Int in throw Broken() }
            try far.bus.register("far://no") { _ -> Int in throw RoutingError.refused("not today") }
            try far.bus.register("far://int/:n") { message -> Int in try message.argument("n") }
            for (url, code) in [
                ("far://fail", RoutingError.Code.handlerFailed), ("far://no", .refused),
                ("far://int/x", .invalidParameter), ("far://unt/1", .noRoute),
            ] {
                let error = await failure { try await near.route(url) }
                #expect(error?.code == code && error?.url == url, "\(error.map { "\($0)" } ?? "")")
            }
            #expect(
                await failure { try await near.route("far://unt/1") }?.message.contains("far://int") == true
            )
        }
    }

    @Test
    func `deadline, headers and hops pass through a connector`() async throws {
        try await self.withConnector { near, far in
            let seen = Journal<Message>()
            try far.bus.register("far://a") { seen.add($0) }
            let ended = Tally()
            try far.bus.register("far://wait") { _ in
                defer { ended.add() }
                try await hang()
            }
            try near.register("near://on") { [weak near] _ in
                try await near?.route("far://a", headers: ["h": "1"], timeout: .seconds(50))
                return 1
            }
            try await near.route("near://on")
            let message = try #require(seen.entries.first)
            #expect(message.headers == ["h": "1"] && message.hops == 2)
            #expect(message.deadline.map { $0 > .now + .seconds(20) && $0 < .now + .seconds(51) } == true)
            let error = await failure { try await near.route("far://wait", timeout: .seconds(2)) }
            #expect(error?.code == .deadlineExceeded)
            #expect(await eventually { ended.count == 1 })
        }
    }

    @Test(.needsPrivateSymbol("swift_task_enqueue"))
    func `messages that waited for the connection arrive before later ones`() async throws {
        try await self.withConnector { near, far in
            let heard = Journal<Int>()
            try far.bus.register("far://note/:n") { heard.add(try $0.parameters.require("n")) }
            let count = Scale.of(800)
            for number in 0..<count { near.send("far://note/\(number)") }
            #expect(await eventually { heard.count == count })
            let isInOrder = heard.entries == Array(0..<count)
            #expect(isInOrder)
        }
    }

    @Test
    func `cancelling the caller cancels the handler behind a connector`() async throws {
        try await self.withConnector { near, far in
            let ended = Tally()
            let gate = Gate()
            try far.bus.register("far://wait") { _ in
                gate.reach()
                defer { ended.add() }
                try await hang()
            }
            let caller = Task { await failure { try await near.route("far://wait") } }
            await gate.reached()
            caller.cancel()
            #expect(await caller.value?.code == .cancelled)
            #expect(await eventually { ended.count == 1 })
        }
    }

    @Test
    func `progress replies and their answers pass through a connector`() async throws {
        try await self.withConnector { near, far in
            try far.bus.register("far://steps") { message -> [Bool] in
                var answers: [Bool] = []
                for step in 0..<3 {
                    answers.append(try await message.reply(with: User(uid: step), expecting: Bool.self))
                }
                return answers
            }
            try far.bus.register("far://tell") { message -> Bool in await message.reply(with: 1) }
            let seen = Journal<Int>()
            let answers: [Bool] = try await near.route("far://steps") { (user: User) in
                seen.add(user.uid)
                return user.uid == 1
            }
            #expect(answers == [false, true, false] && seen.entries == [0, 1, 2])
            #expect(try await near.route("far://tell", as: Bool.self) == false)
            let refused = await failure { try await near.route("far://steps") }
            #expect(refused?.code == .noHandler)
            let thrown = await failure {
                try await near.route("far://steps") { (_: User) -> Bool in throw CancellationError() }
            }
            #expect(thrown?.code == .refused)
            var values: [Int] = []
            for try await reply in near.replies(to: "far://tell") where !reply.isLast {
                values.append(try reply.value(as: Int.self))
            }
            #expect(values == [1])
        }
    }

    @Test
    func `a value for a return URL returns through the connector, unless the handler declines it`()
        async throws
    {
        try await self.withConnector { near, far in
            try far.bus.register("far://pay") { _ in User(uid: 1) }
            try far.bus.register("far://early") { message -> Int in
                message.sendReturn(User(uid: 2))
                return 1
            }
            try far.bus.register("far://decline") { message -> Int in
                message.declineReturn()
                return 1
            }
            let receipts = Journal<User>()
            try near.register("near://receipt") { message in
                receipts.add(try message.payload(as: User.self))
            }
            for (url, expected) in [("far://pay", 1), ("far://early", 2)] {
                let reply = try await near.route("\(url)#near://receipt")
                guard case .delivered = await reply.returnLeg?.outcome else {
                    Issue.record("the value of \(url) is lost")
                    continue
                }
                #expect(receipts.entries.last == User(uid: expected))
            }
            let reply = try await near.route("far://decline#near://receipt")
            guard case .declined = reply.returnLeg?.current else {
                Issue.record("a value was sent that the handler had declined")
                return
            }
            #expect(receipts.count == 2)
        }
    }

    @Test
    func `a value for a return URL that comes after the reply is dropped with a notice`() async throws {
        try await withServer { far in
            try far.bus.expose("far://**", for: .all)
            let kept = Journal<Message>()
            try far.bus.register("far://pick") { message in
                #expect(message.holdReturn())
                kept.add(message)
            }
            let near = MessageBus(configuration: .quiet)
            try near.register("near://picked") { _ in Issue.record("the value was sent") }
            let log = Journal<String>()
            var configuration = RPCConnector.Configuration()
            configuration.logger = Logger(label: "returns") { _ in JournalLogHandler(journal: log) }
            try near.connect("far", to: RPCConnector(far.address, configuration: configuration))
            _ = try await near.route("far://pick#near://picked")
            #expect(try #require(kept.entries.first).sendReturn(7))
            #expect(await eventually { log.entries.contains { $0.contains("after its request had ended") } })
            #expect(await near.settles())
            await near.shutDown()
        }
    }

    @Test
    func `a response that is neither a result nor an error fails its call`() async throws {
        let loop = EventLoop(name: "broken")
        let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: loop)
        let server = Task {
            try await listener.serve { connection in
                for try await bytes in connection.bytes {
                    let request = json(String(decoding: bytes, as: UTF8.self))
                    let response = #"{"jsonrpc":"2.0","id":\#(request["id"] as? Int ?? 0)}"#
                    try await connection.write(Array("\(response)\n".utf8))
                }
            }
        }
        let near = MessageBus(configuration: .quiet)
        try near.connect("far", to: RPCConnector(listener.address, configuration: .quiet))
        let error = await failure { try await near.route("far://x", timeout: .seconds(50)) }
        #expect(error?.code == .handlerFailed)
        #expect(error?.message == "the response is neither a valid result nor a valid error")
        await near.shutDown()
        server.cancel()
        _ = try? await server.value
        await loop.shutDown()
    }

    @Test
    func `concurrent requests share one connection, and each receives its own reply`() async throws {
        try await self.withConnector { near, far in
            try far.bus.register("far://now/:n") { message -> Int in try message.argument("n") }
            try far.bus.register("far://later/:n") { message -> Int in
                await Task.yield()
                return try message.argument("n")
            }
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<Scale.of(800) {
                    group.addTask {
                        let kind = number % 2 == 0 ? "now" : "later"
                        return try await near.route("far://\(kind)/\(number)", as: Int.self) == number
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            #expect(far.server.statistics.connections == 1)
        }
    }
}
