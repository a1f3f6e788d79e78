internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting
internal import WaybillTestSupport

extension SoakTown {
    /// Performs a random operation in a task.
    func act(_ dice: inout SeededGenerator) async {
        let (bus, books) = (self.bus, self.books)
        let quick = Self.quick.randomElement(using: &dice) ?? ""
        let url =
            Int.random(in: 0..<50, using: &dice) == 0 ? Self.slow.randomElement(using: &dice) ?? "" : quick
        let deadline = ContinuousClock.now + .microseconds(Int.random(in: 0..<2000, using: &dice))
        switch Int.random(in: 0..<12, using: &dice) {
        case 0...2: self.send(&dice)
        case 3: await books.call { try await bus.enqueue(quick) }
        case 4: await books.call { try await bus.route(quick) }
        case 5:
            let number = Self.numbers.randomElement(using: &dice) ?? ""
            await books.call { _ = try await bus.route(number, as: Int.self) }
        case 6:
            let caller = Task { await books.call { try await bus.route(url) } }
            if Bool.random(using: &dice) { await Task.yield() }
            caller.cancel()
            await caller.value
        case 7: await self.read(url, until: deadline, isPatient: Bool.random(using: &dice))
        case 8: await books.call { try await bus.route(url, deadline: deadline) { (_: Int) in } as Void }
        case 9: _ = await failure { try await bus.publish("app://topic/news") }
        default: await books.call { try await bus.route(url, deadline: deadline) }
        }
    }

    /// Sends a random message from any thread.
    func send(_ dice: inout SeededGenerator) {
        self.books.note { $0.given += 1 }
        let isSlow = Int.random(in: 0..<500, using: &dice) == 0
        self.bus.send((isSlow ? Self.slow : Self.quick).randomElement(using: &dice) ?? "")
    }

    /// Reads replies one by one.
    ///
    /// An impatient reader leaves after the first reply.
    private func read(_ url: String, until deadline: ContinuousClock.Instant, isPatient: Bool) async {
        let (bus, books) = (self.bus, self.books)
        await books.call {
            for try await reply in bus.replies(to: url, deadline: deadline) where !reply.isLast && !isPatient
            {
                books.note { $0.left += 1 }
                break
            }
        }
    }

    /// Registers and unregisters handlers until it is stopped.
    func comeAndGo(until stopped: Journal<Bool>) async {
        let bus = self.bus
        let books = self.books
        let module = self.modules[7]
        while stopped.count == 0 {
            let pattern = "app://comes/and/goes"
            let registration = try? bus.register(pattern, on: module) { _, _ in
                try await books.run { try await hang() }
            }
            await Task.yield()
            registration?.cancel()
        }
    }
}
