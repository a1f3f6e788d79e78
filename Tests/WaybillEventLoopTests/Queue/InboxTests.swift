internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

/// An inbox in a class, so that closures can share it and expectations can change it.
private final class SharedInbox: Sendable {
    let inbox = Inbox()

    var hasWork: Bool { self.inbox.hasWork }

    func push(_ item: WorkItem, willWake: () -> Void = {}) -> Inbox.Push {
        self.inbox.push(item, willWake: willWake)
    }

    func park() -> Bool { self.inbox.park() }
    func take() -> WorkList { self.inbox.take() }
    func close() -> WorkList { self.inbox.close() }
}

struct InboxTests {
    @Test
    func `only the first item pushed to a sleeping loop has to wake it`() {
        let inbox = SharedInbox()
        #expect(inbox.push(WorkItem {}) == .queued)
        Self.run(inbox.take())
        #expect(inbox.park())
        var prepared = 0
        let first = inbox.push(WorkItem {}, willWake: { prepared += 1 })
        let second = inbox.push(WorkItem {}, willWake: { prepared += 1 })
        #expect(first == .wake)
        #expect(second == .queued)
        #expect(prepared == 1)
        Self.run(inbox.take())
    }

    @Test
    func `a loop with work in its inbox does not sleep`() {
        let inbox = SharedInbox()
        #expect(inbox.push(WorkItem {}) == .queued)
        #expect(inbox.hasWork)
        #expect(!inbox.park())
        Self.run(inbox.take())
        #expect(!inbox.hasWork)
    }

    @Test
    func `a loop that has woken by itself needs no wake-up`() {
        let inbox = SharedInbox()
        #expect(inbox.park())
        Self.run(inbox.take())
        #expect(inbox.push(WorkItem {}) == .queued)
        Self.run(inbox.take())
    }

    @Test
    func `a closed inbox returns the item that was pushed`() {
        let inbox = SharedInbox()
        #expect(inbox.push(WorkItem {}) == .queued)
        Self.run(inbox.close())
        let item = WorkItem {}
        #expect(inbox.push(item) == .closed)
        item.takeBody()()
    }

    @Test
    func `the inbox delivers the items of each thread once and in order`() async {
        let shared = SharedInbox()
        let (threads, items) = (4, 5000)
        let seen = (0..<threads).map { _ in Journal<Int>() }
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<threads {
                group.addTask {
                    for number in 0..<items {
                        _ = shared.push(WorkItem { seen[thread].add(number) })
                    }
                }
            }
            group.addTask {
                var count = 0
                while count < threads * items {
                    var list = shared.inbox.take()
                    while let item = list.pop() {
                        item.takeBody()()
                        count += 1
                    }
                    await Task.yield()
                }
            }
        }
        for journal in seen { #expect(journal.entries == Array(0..<items)) }
        let pushes = shared.inbox.pushCount
        #expect(pushes == UInt(threads * items))
    }

    private static func run(_ list: WorkList) {
        var list = list
        while let item = list.pop() { item.takeBody()() }
    }
}
