#if HTTP
import Logging
import Testing
import Waybill
import WaybillEventLoop
import WaybillJSON
import WaybillTestSupport

@testable import WaybillConsole

/// Dead letters in the console, and the actions of an operator.
@Suite(.timeLimit(.minutes(2)))
struct ReplayTests {
    private let bus = MessageBus(configuration: .quiet)

    private func letters(_ server: ConsoleTestServer) async throws -> [JSONText] {
        let groups = try await server.get("api/deadletters").json?.member(named: "groups")?.elements ?? []
        return groups.flatMap { $0.member(named: "letters")?.elements ?? [] }
    }

    @Test
    func `the console groups dead letters, and keeps those from before a page is open`() async throws {
        try self.bus.register("app://fails/:n") { _ -> Int in throw RoutingError.refused("not today") }
        try await ConsoleTestServer.run(self.bus) { server in
            for number in 0..<3 { self.bus.send("app://fails/\(number)") }
            self.bus.send("app://nowhere")
            #expect(await eventually { self.bus.statistics.deadLettered == 4 })
            let json = try #require(try await server.get("api/deadletters").json)
            #expect(json.member(named: "counted")?.int == 4 && json.member(named: "dropped")?.int == 0)
            let groups = json.member(named: "groups")?.elements ?? []
            #expect(groups.map { $0.member(named: "count")?.int } == [3, 1])
            #expect(groups.map { $0.member(named: "code")?.string } == ["refused", "noRoute"])
            #expect(groups.first?.member(named: "pattern")?.string == "app://fails/:n")
            let letters = try await self.letters(server)
            #expect(letters.count == 4)
            #expect(letters.allSatisfy { $0.member(named: "canReplay")?.bool == false })
        }
    }

    @Test
    func `a flood of dead letters is counted, and only a limited number is kept`() async throws {
        try await ConsoleTestServer.run(self.bus, .quiet { $0.memoryLimit = 1 << 20 }) { server in
            for number in 0..<5_000 {
                self.bus.send("app://nowhere/\(number)?filler=\(String(repeating: "x", count: 1000))")
            }
            #expect(await eventually { self.bus.statistics.deadLettered == 5_000 })
            let json = try #require(try await server.get("api/deadletters").json)
            let shown = json.member(named: "shown")?.int ?? 0
            #expect(json.member(named: "counted")?.int == 5_000 && shown > 10 && shown <= 200)
            #expect(json.member(named: "dropped")?.int == 5_000 - shown)
        }
    }

    @Test func `a dropped letter may hold an object whose deinit causes a dead letter`() async throws {
        let configuration = WaybillConsole.Configuration.quiet {
            $0.allowsActions = true
            $0.memoryLimit = 1 << 20
        }
        try await ConsoleTestServer.run(self.bus, configuration) { server in
            let released = Tally()
            let filler = String(repeating: "x", count: 20_000)
            for _ in 0..<100 {
                let guest = Guest { [bus] in
                    // An invalid URL causes a dead letter within the call.
                    bus.send("")
                    released.add()
                }
                self.bus.send("app://nowhere", parameters: ["guest": guest, "filler": filler])
            }
            #expect(await eventually { released.count >= 10 })
            #expect(await eventually { self.bus.statistics.deadLettered == 100 + released.count })
            _ = try #require(try await server.get("api/deadletters").json)
        }
    }

    @Test
    func `a replayed dead letter has all its parts, and refers to the original`() async throws {
        let log = Journal<String>()
        let configuration = WaybillConsole.Configuration.quiet { configuration in
            configuration.allowsActions = true
            configuration.logger = Logger(label: "waybill.tests") { _ in JournalLogHandler(journal: log) }
        }
        let isOpen = Flag()
        let handled = Journal<Message>()
        try self.bus.register("app://shop/:n") { message in
            guard isOpen.isRaised else { throw RoutingError.refused("closed") }
            handled.add(message)
        }
        try await ConsoleTestServer.run(self.bus, configuration) { server in
            for number in 0..<3 {
                self.bus.send("app://shop/\(number)", parameters: ["count": number], headers: ["tenant": "a"])
            }
            #expect(await eventually { self.bus.statistics.deadLettered == 3 })
            let ids = try await self.letters(server).compactMap { $0.member(named: "id")?.string }
            isOpen.raise()
            let one = try await server.post("api/deadletters/replay", #"{"ids":["\#(ids[0])","ff","x"]}"#)
            let replayed = try #require(one.json?.member(named: "replayed")?.elements)
            #expect(replayed.count == 1 && replayed[0].member(named: "failure")?.isNull == true)
            let new = try #require(replayed[0].member(named: "as")?.string)
            #expect(await eventually { handled.count == 1 })
            let message = try #require(handled.entries.first)
            #expect("\(message.id)" == new)
            #expect(message.headers == ["tenant": "a", "waybill-replay-of": ids[0]])
            #expect(message.parameters.call["count"] is Int && message.cause.map { "\($0)" } == ids[0])
            // No caller waits for the new message, because no caller waited for the dead letter.
            #expect(message.deadline == nil && message.deliveryKind == .send)
            // The group no longer contains the letter that was replayed.
            let body = #"{"code":"refused","pattern":"app://shop/:n"}"#
            let all = try await server.post("api/deadletters/replay", body)
            #expect(all.json?.member(named: "replayed")?.elements?.count == 2)
            #expect(await eventually { handled.count == 3 })
            let letters = try await self.letters(server)
            #expect(letters.map { $0.member(named: "isReplayed")?.bool } == [true, true, true])
            #expect(letters.map { $0.member(named: "replayedAs")?.elements?.count } == [1, 1, 1])
            #expect(log.entries.filter { $0.contains("once more") }.count == 3)
            #expect(try await server.post("api/deadletters/replay", "{}").status == 400)
            #expect(try await server.post("api/deadletters/replay", "[").status == 400)
        }
    }

    @Test
    func `a replay that fails becomes a dead letter in place of the first`() async throws {
        try self.bus.register("app://shop") { _ in throw RoutingError.refused("closed") }
        try await ConsoleTestServer.run(self.bus, .quiet { $0.allowsActions = true }) { server in
            self.bus.send("app://shop")
            #expect(await eventually { self.bus.statistics.deadLettered == 1 })
            let body = #"{"code":"refused","pattern":"app://shop"}"#
            for round in 1...3 {
                // Each round replays only the dead letter of the round before.
                let answer = try await server.post("api/deadletters/replay", body)
                let replayed = try #require(answer.json?.member(named: "replayed")?.elements)
                #expect(replayed.count == 1)
                #expect(await eventually { self.bus.statistics.deadLettered == round + 1 })
            }
        }
    }

    @Test
    func `replays that fail are kept, also when the group has reached its quota`() async throws {
        try self.bus.register("app://shop/:n") { _ in throw RoutingError.refused("closed") }
        try await ConsoleTestServer.run(self.bus, .quiet { $0.allowsActions = true }) { server in
            // The quota of a group is a hundred letters at once.
            for number in 0..<100 { self.bus.send("app://shop/\(number)") }
            #expect(await eventually { self.bus.statistics.deadLettered == 100 })
            let body = #"{"code":"refused","pattern":"app://shop/:n"}"#
            let answer = try await server.post("api/deadletters/replay", body)
            #expect(answer.json?.member(named: "replayed")?.elements?.count == 100)
            #expect(await eventually { self.bus.statistics.deadLettered == 200 })
            // Each URL has one letter that was not sent again.
            let open = try await self.letters(server).filter {
                $0.member(named: "isReplayed")?.bool == false
            }
            #expect(Set(open.map { $0.member(named: "url")?.string }).count == 100)
        }
    }

    @Test
    func `a letter that a caller awaited is replayed with a caller`() async throws {
        try await ConsoleTestServer.run(self.bus, .quiet { $0.allowsActions = true }) { server in
            _ = await failure { try await self.bus.route("app://shop/x") }
            #expect(await eventually { self.bus.statistics.deadLettered == 1 })
            let letter = try #require(try await self.letters(server).first)
            #expect(letter.member(named: "isAwaited")?.bool == true)
            try self.bus.register("app://shop/x") { message in
                guard message.deadline != nil else { throw RoutingError.refused("no caller") }
            }
            let body = #"{"code":"noRoute","pattern":null}"#
            let answer = try await server.post("api/deadletters/replay", body)
            let replayed = try #require(answer.json?.member(named: "replayed")?.elements)
            #expect(replayed.map { $0.member(named: "failure")?.isNull } == [true])
            let again = try await server.post("api/deadletters/replay", body)
            #expect(again.json?.member(named: "replayed")?.elements?.isEmpty == true)
        }
    }

    @Test
    func `a replayed publication reaches its subscribers, and not a route of its URL`() async throws {
        try self.bus.register("app://orders/:id") { _ in }
        let unread = try self.bus.subscription(to: "app://orders/placed", limit: 1, whenFull: .dropOldest)
        try await ConsoleTestServer.run(self.bus, .quiet { $0.allowsActions = true }) { server in
            try await self.bus.publish("app://orders/placed?n=1")
            try await self.bus.publish("app://orders/placed?n=2")
            #expect(await eventually { self.bus.statistics.deadLettered == 1 })
            let letters = try await self.letters(server)
            #expect(letters.map { $0.member(named: "canReplay")?.bool } == [false])
            unread.cancel()
            #expect(await eventually { self.bus.statistics.deadLettered == 2 })
            let all = try await self.letters(server)
            #expect(all.map { $0.member(named: "canReplay")?.bool } == [false, false])
        }
    }

    @Test
    func `a call from the console shows the reply, and is logged`() async throws {
        let log = Journal<String>()
        let configuration = WaybillConsole.Configuration.quiet { configuration in
            configuration.allowsActions = true
            configuration.logger = Logger(label: "waybill.tests") { _ in JournalLogHandler(journal: log) }
        }
        try self.bus.register("app://add/:a") { message -> [Int] in
            [
                try message.parameters.require("a", as: Int.self)
                    + message.parameters.require("b", as: Int.self)
            ]
        }
        try self.bus.register("app://slow") { _ in try await hang() }
        try await ConsoleTestServer.run(self.bus, configuration) { server in
            let sum = try await server.post("api/call", #"{"url":"app://add/1","parameters":{"b":2}}"#)
            #expect(sum.json?.member(named: "reply")?.string == "[Int](1)")
            #expect(sum.json?.member(named: "failure")?.isNull == true)
            let late = try await server.post("api/call", #"{"url":"app://slow","timeout":20}"#)
            #expect(late.json?.member(named: "failure")?.member(named: "code")?.string == "deadlineExceeded")
            let lost = try await server.post("api/call", #"{"url":"app://ad/1"}"#)
            let suggestions = lost.json?.member(named: "failure")?.member(named: "suggestions")?.elements
            #expect(suggestions?.compactMap(\.string).contains("app://add/:a") == true)
            for body in ["", "1", "{}", #"{"url":1}"#, #"{"url":"app://a","parameters":[]}"#] {
                #expect(try await server.post("api/call", body).status == 400, "\(body)")
            }
            #expect(log.entries.filter { $0.contains("console: called") }.count == 3)
        }
        var shows = configuration
        shows.showsPayloads = true
        try await ConsoleTestServer.run(self.bus, shows) { server in
            let sum = try await server.post("api/call", #"{"url":"app://add/1","parameters":{"b":2}}"#)
            #expect(sum.json?.member(named: "reply")?.elements?.first?.int == 3)
        }
    }
}
#endif
