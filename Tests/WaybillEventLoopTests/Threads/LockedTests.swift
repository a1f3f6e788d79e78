import Testing
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct LockedTests {
    private final class Holder: Sendable {
        let value = Locked<Guest?>(nil)

        // The optimizer may release an ignored result early.
        func replace(with guest: Guest?) { _ = self.value.withLock { Swift.exchange(&$0, with: guest) } }
    }

    // A lock that is acquired twice by one thread traps or waits for ever.
    @Test func `a deinitializer in a value that a closure returns may acquire the same lock`() {
        let holder = Holder()
        let found = Journal<String>()
        holder.replace(with: Guest { found.add(holder.value.withLock { $0 == nil ? "nothing" : "next" }) })
        holder.replace(with: Guest {})
        #expect(found.entries == ["next"])
    }

    @Test func `a deinitializer in an ignored part of a result may acquire the same lock`() {
        let holder = Holder()
        let found = Journal<Bool>()
        holder.replace(with: Guest { found.add(holder.value.withLock { $0 == nil }) })
        let (count, _) = holder.value.withLock { (1, $0.take()) }
        #expect(count == 1 && found.entries == [true])
    }
}
