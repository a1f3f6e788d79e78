import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)), .alsoElsewhere)
struct RepliesTests {
    let modules = CalledModules.underTest()
    var bus: MessageBus { self.modules.bus }
    var caller: MessageBus { self.modules.caller }

    @Test(arguments: RouteTests.Place.allCases)
    func `a sequence of replies has each reply, and the last one is marked`(
        place: RouteTests.Place
    ) async throws {
        try self.bus.register("app://count") { message -> String in
            for number in 1...3 { await message.reply(with: number) }
            return "done"
        }
        let caller = self.caller
        let replies = try await RouteTests.run(place, caller) {
            var replies: [Reply] = []
            for try await reply in caller.replies(to: "app://count") { replies.append(reply) }
            return replies
        }
        #expect(replies.map { "\($0.value)" } == ["1", "2", "3", "done"])
        #expect(replies.map(\.isLast) == [false, false, false, true])
        #expect(Set(replies.map(\.correlationID)).count == 1)
        #expect(replies.allSatisfy { $0.url == "app://count" })
        #expect(self.caller.statistics.sent == 1 && self.caller.statistics.replied == 1)
    }

    @Test func `a sequence of replies sends its request at the start of each iteration`() async throws {
        try self.bus.register("app://a") { _ in 1 }
        let replies = self.caller.replies(to: "app://a")
        #expect(self.caller.statistics.sent == 0)
        for _ in 1...2 { for try await _ in replies {} }
        #expect(self.caller.statistics.sent == 2)
    }

    @Test func `the handler waits until the reader asks for the next reply`() async throws {
        let journal = Journal<String>()
        try self.bus.register("app://count") { message in
            for number in 1...2 {
                try await message.reply(with: number, expecting: Void.self)
                journal.add("went on after \(number)")
            }
        }
        for try await reply in self.caller.replies(to: "app://count") where !reply.isLast {
            journal.add("saw \(reply.value)")
        }
        #expect(journal.entries == ["saw 1", "went on after 1", "saw 2", "went on after 2"])
    }

    @Test func `leaving the loop over replies cancels the handler and resumes it`() async throws {
        let freed = Gate()
        let cancelled = Gate()
        try self.bus.register("app://count") { message in
            await withTaskCancellationHandler {
                while await message.reply(with: 1) {}
            } onCancel: {
                cancelled.open()
            }
            freed.open()
        }
        for try await _ in self.caller.replies(to: "app://count") { break }
        await cancelled.wait()
        await freed.wait()
        #expect(self.caller.statistics.cancelled == 1 && self.caller.statistics.inFlight == 0)
    }

    @Test func `a deadline resumes a handler whose reply is not read`() async throws {
        let freed = Gate()
        try self.bus.register("app://count") { message in
            while await message.reply(with: 1) {}
            freed.open()
        }
        let caller = self.caller
        // If the caller is on the loop, the handler begins at once.
        try await RouteTests.run(.home, caller) {
            let deadline = ContinuousClock.now + Scale.whileQuick / 2
            var replies = caller.replies(to: "app://count", deadline: deadline).makeAsyncIterator()
            let first = try await replies.next()
            #expect(first?.isLast == false)
            await freed.wait()
            #expect(await failure { try await replies.next() }?.code == .deadlineExceeded)
            #expect(try await replies.next() == nil)
        }
    }

    @Test(arguments: [
        ("app://nobody", RoutingError.Code.noRoute), ("", .invalidURL), ("app://broken", .handlerFailed),
    ])
    func `a sequence of replies throws a failure once, and then ends`(
        url: String,
        code: RoutingError.Code
    ) async throws {
        try self.bus.register("app://broken") { _ in throw CancellationError() }
        var replies = self.caller.replies(to: url).makeAsyncIterator()
        #expect(await failure { try await replies.next() }?.code == code)
        #expect(try await replies.next() == nil)
        #expect(self.caller.statistics.sent == 1 && self.caller.statistics.inFlight == 0)
    }

    @Test func `cancelling the reader cancels the handler`() async throws {
        let started = Gate()
        let cancelled = Gate()
        try self.bus.register("app://count") { message in
            started.open()
            await withTaskCancellationHandler {
                await cancelled.wait()
            } onCancel: {
                cancelled.open()
            }
        }
        let reader = Task { [caller] in
            await failure { for try await _ in caller.replies(to: "app://count") {} }
        }
        await started.wait()
        reader.cancel()
        #expect(await reader.value?.code == .cancelled)
        await cancelled.wait()
    }
}
