import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

/// Progress replies and their answers.
@Suite(.timeLimit(.minutes(1)), .alsoElsewhere)
struct DialogTests {
    let modules = CalledModules.underTest()
    var bus: MessageBus { self.modules.bus }
    var caller: MessageBus { self.modules.caller }

    /// Registers a handler that asks repeatedly with the last answer, and returns all answers.
    private func register(rounds: Int) throws {
        try self.bus.register("app://dialog") { message -> [Int] in
            var heard = [0]
            for _ in 0..<rounds {
                let question = heard[heard.count - 1] + 1
                heard.append(try await message.reply(with: question, expecting: Int.self))
            }
            return heard
        }
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `a dialog of ten rounds can be a sequence of replies`(place: RouteTests.Place) async throws {
        try self.register(rounds: 10)
        let receipts = Journal<Message>()
        try self.bus.register("app://home/receipt") { receipts.add($0) }
        let caller = self.caller
        let replies = try await RouteTests.run(place, caller) {
            var replies: [Reply] = []
            for try await reply in caller.replies(to: "app://dialog#home/receipt") {
                replies.append(reply)
                guard !reply.isLast else { break }
                let question = try reply.value(as: Int.self)
                #expect(reply.answer(with: question * 2))
            }
            return replies
        }
        #expect(replies.dropLast().map { $0.value as? Int } == [1, 3, 7, 15, 31, 63, 127, 255, 511, 1023])
        #expect(replies.last?.value as? [Int] == [0, 2, 6, 14, 30, 62, 126, 254, 510, 1022, 2046])
        #expect(Set(replies.map(\.correlationID)).count == 1)
        #expect(await eventually { receipts.count == 1 })
        #expect(receipts.entries.first?.correlationID == replies.first?.correlationID)
        #expect(receipts.entries.first?.payload as? [Int] == replies.last?.value as? [Int])
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `a dialog of ten rounds can be held with a closure`(place: RouteTests.Place) async throws {
        try self.register(rounds: 10)
        let caller = self.caller
        let heard: [Int] = try await RouteTests.run(place, caller) {
            try await caller.route("app://dialog") { (question: Int) in question * 2 }
        }
        #expect(heard == [0, 2, 6, 14, 30, 62, 126, 254, 510, 1022, 2046])
    }

    @Test func `two handlers exchange replies through a third one`() async throws {
        try self.register(rounds: 3)
        let bus = self.bus
        try bus.register("app://interpreter") { [weak bus] message -> [Int] in
            guard let bus else { throw CancellationError() }
            return try await bus.route("app://dialog") { (question: Int) in
                try await message.reply(with: "\(question)?", expecting: Int.self)
            }
        }
        let heard: [Int] = try await self.caller.route("app://interpreter") { (question: String) in
            question.count
        }
        #expect(heard == [0, 2, 2, 2])
    }

    @Test func `a reply can be answered once, and only before the next reply`() async throws {
        let answers = Journal<String>()
        try self.bus.register("app://ask") { message -> Int in
            for number in 1...3 {
                do {
                    answers.add("\(try await message.reply(with: number, expecting: Int.self))")
                } catch {
                    answers.add("\((error as? RoutingError)?.code ?? .shutDown)")
                }
            }
            return 0
        }
        var replies = self.caller.replies(to: "app://ask").makeAsyncIterator()
        let first = try #require(try await replies.next())
        #expect(first.answer(with: 10))
        #expect(!first.answer(with: 11))
        let second = try #require(try await replies.next())
        #expect(!first.answer(with: 12))
        // Reading on without answering the second reply answers it too, with no value.
        let third = try #require(try await replies.next())
        #expect(!second.answer(with: 20))
        #expect(third.answer(with: "three"))
        let last = try #require(try await replies.next())
        #expect(last.isLast && !last.answer(with: 40) && !third.answer(with: 30))
        #expect(answers.entries == ["10", "typeMismatch", "typeMismatch"])
    }

    @Test func `a reply can be answered after the handler has asked whether anybody listens`() async throws {
        try self.bus.register("app://ask") { message -> [Int] in
            var answers: [Int] = []
            for number in 1...2 {
                guard await message.hasListener() else { return answers }
                answers.append(try await message.reply(with: number, expecting: Int.self))
            }
            return answers
        }
        var answers: [Int]?
        for try await reply in self.caller.replies(to: "app://ask") {
            if reply.isLast {
                answers = try reply.value(as: [Int].self)
            } else {
                let isAnswered = reply.answer(with: try reply.value(as: Int.self) * 10)
                #expect(isAnswered)
            }
        }
        #expect(answers == [10, 20])
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `a slow reader of replies suspends the handler`(place: RouteTests.Place) async throws {
        let sent = Journal<Int>()
        try self.bus.register("app://fast") { message in
            for number in 1...50 {
                sent.add(number)
                await message.reply(with: number)
            }
        }
        let caller = self.caller
        let worst = try await RouteTests.run(place, caller) {
            var read = 0
            var worst = 0
            for try await reply in caller.replies(to: "app://fast") where !reply.isLast {
                read += 1
                // A handler that did not wait would get ahead in this time.
                for _ in 0..<5 { await Task.yield() }
                worst = max(worst, sent.count - read)
            }
            return worst
        }
        #expect(worst == 0)
        #expect(sent.count == 50)
    }

    @Test func `each progress reply of a handler's tasks waits for the reader`() async throws {
        let sent = Journal<Int>()
        try self.bus.register("app://fast") { message in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for number in 1...10 {
                            sent.add(number)
                            await message.reply(with: number)
                        }
                    }
                }
            }
        }
        var read = 0
        var worst = 0
        for try await reply in self.caller.replies(to: "app://fast") where !reply.isLast {
            read += 1
            await Task.yield()
            worst = max(worst, sent.count - read)
        }
        #expect(read == 40 && worst < 4)
    }
}
