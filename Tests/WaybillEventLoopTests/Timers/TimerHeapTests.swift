internal import Testing
internal import WaybillRouting

@testable internal import WaybillEventLoop

struct TimerHeapTests {
    private func drain(_ heap: inout TimerHeap<Int>, at now: Int64 = .max) -> [Int] {
        var payloads: [Int] = []
        while let payload = heap.popDue(at: now) { payloads.append(payload) }
        return payloads
    }

    @Test
    func `timers are returned by deadline, equal ones in the order of insertion`() {
        var heap = TimerHeap<Int>()
        for (payload, deadline) in [30, 10, 20, 10, 30, 10].enumerated() {
            _ = heap.insert(payload, at: Int64(deadline))
        }
        #expect(heap.nextDeadline == 10)
        let payloads = self.drain(&heap)
        #expect(payloads == [1, 3, 5, 2, 0, 4])
    }

    @Test
    func `no timer is returned before its time`() {
        var heap = TimerHeap<Int>()
        _ = heap.insert(1, at: 10)
        let early = heap.popDue(at: 9)
        let due = heap.popDue(at: 10)
        #expect(early == nil)
        #expect(due == 1)
        #expect(heap.nextDeadline == nil)
    }

    @Test
    func `a timer's key removes it once`() {
        var heap = TimerHeap<Int>()
        let first = heap.insert(1, at: 10)
        let removed = [heap.remove(first), heap.remove(first)]
        #expect(removed == [1, nil])
        let second = heap.insert(2, at: 20)
        #expect(first != second)
        let stale = heap.remove(first)
        let fresh = heap.remove(TimerHeap<Int>.Key(bits: second.bits))
        #expect(stale == nil)
        #expect(fresh == 2)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `random insertions into a timer heap and removals agree with a sorted list`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var heap = TimerHeap<Int>()
        var model: [(deadline: Int64, payload: Int, key: TimerHeap<Int>.Key)] = []
        for payload in 0..<2_000 {
            switch UInt.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let deadline = Int64.random(in: 0..<500, using: &generator)
                model.append((deadline, payload, heap.insert(payload, at: deadline)))
            case 5..<8 where !model.isEmpty:
                let victim = model.remove(at: Int.random(in: 0..<model.count, using: &generator))
                let removed = heap.remove(victim.key)
                #expect(removed == victim.payload)
            default:
                let now = Int64.random(in: 0..<50, using: &generator)
                // The sort is stable, so equal deadlines stay in the order of insertion.
                let due = model.filter { $0.deadline <= now }.enumerated()
                    .sorted { ($0.element.deadline, $0.offset) < ($1.element.deadline, $1.offset) }
                let payloads = self.drain(&heap, at: now)
                #expect(payloads == due.map(\.element.payload))
                model.removeAll { $0.deadline <= now }
            }
            #expect(heap.count == model.count)
            #expect(heap.nextDeadline == model.map(\.deadline).min())
        }
    }

    @Test
    func `removeAll returns the timers, earliest first`() {
        var heap = TimerHeap<Int>()
        for payload in 0..<100 { _ = heap.insert(payload, at: Int64(100 - payload)) }
        let payloads = heap.removeAll()
        #expect(payloads == Array((0..<100).reversed()))
        #expect(heap.count == 0)
    }

    @Test
    func `a timer key from before the heap was emptied removes nothing`() {
        var heap = TimerHeap<Int>()
        let key = heap.insert(1, at: 1)
        _ = heap.removeAll()
        let removed = heap.remove(key)
        #expect(removed == nil)
    }
}
