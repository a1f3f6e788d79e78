internal import Testing

@testable internal import WaybillEventLoop

struct PollBudgetTests {
    /// Takes units that cost `cost` nanoseconds each, and returns their number and the end of the last one.
    private func drain(_ budget: inout PollBudget, from start: Int64, cost: Int64) -> (count: Int, end: Int64)
    {
        var now = start
        var count = 0
        while budget.consume(at: { now }), count < 1_000_000 {
            now += cost
            count += 1
        }
        return (count, now)
    }

    @Test(arguments: [50, 1_000, 20_000, 300_000, 2_000_000] as [Int64])
    func `a poll budget ends soon after its time slice, whatever a unit costs`(cost: Int64) {
        var budget = PollBudget(slice: 250_000)
        var start: Int64 = 0
        for round in 0..<10 {
            budget.refill(at: start)
            let (count, end) = self.drain(&budget, from: start, cost: cost)
            #expect(count > 0)
            // The budget learns the cost of the units in the first rounds.
            if round > 2 { #expect(end - start <= 250_000 + 8 * max(cost, 30_000)) }
            if cost <= 1_000 { #expect(end - start >= 250_000) }
            start = end
        }
    }

    @Test
    func `an exhausted poll budget stays exhausted until it is refilled`() {
        var budget = PollBudget(slice: 1_000)
        budget.refill(at: 0)
        _ = self.drain(&budget, from: 0, cost: 100)
        for _ in 0..<3 {
            let late = budget.consume(at: { 10_000 })
            #expect(!late)
        }
        budget.refill(at: 10_000)
        let fresh = budget.consume(at: { 10_000 })
        #expect(fresh)
    }

    @Test
    func `a poll budget reads the clock once for many units`() {
        var budget = PollBudget(slice: 1_000_000)
        budget.refill(at: 0)
        var reads: Int64 = 0
        for _ in 0..<10_000 {
            _ = budget.consume(at: {
                reads += 1
                return reads
            })
        }
        #expect(reads < 400)
    }
}
