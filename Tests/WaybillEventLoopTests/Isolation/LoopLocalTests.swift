import Testing
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct LoopLocalTests {
    private final class Holder: Sendable {
        let value: LoopLocal<Guest?>

        init(on eventLoop: EventLoop) { self.value = LoopLocal(nil, on: eventLoop) }
    }

    // An optimized build could release the previous value before the new value is set.
    @Test func `a deinitializer in the previous value of a loop finds and replaces the new value`() async {
        let loop = EventLoop()
        let holder = Holder(on: loop)
        let found = Journal<String>()
        await loop.run {
            let next = Guest {}
            holder.value.store(
                Guest {
                    found.add(holder.value.load() === next ? "new" : "previous")
                    holder.value.store(nil)
                }
            )
            holder.value.store(next)
            found.add(holder.value.load() == nil ? "replaced" : "not replaced")
        }
        #expect(found.entries == ["new", "replaced"])
    }
}
