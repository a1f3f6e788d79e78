internal import CSimulation
internal import WaybillEventLoop

/// The way in which a simulation chooses the task that runs next.
///
/// Both ways find the same kinds of bugs, some of them sooner in one and some in the other.
public struct SimulationSchedule: Sendable {
    /// The depth of the tested bugs; nil without priorities.
    let depth: Int?

    /// Each piece of work may be overtaken, by another one that is chosen at random.
    ///
    /// Some seeds change the order often, and others rarely.
    public static let random = Self(depth: nil)

    /// Each task has a random priority, and the ready task with the highest one runs (probabilistic
    /// concurrency testing, Burckhardt and others 2010).
    ///
    /// At `depth - 1` random moments, the task that runs next gets the lowest priority. A task with a low
    /// priority waits as long as others can run, so this schedule finds bugs that need one task to be very
    /// slow.
    ///
    /// - Parameter depth: The number of ordering constraints that a bug needs, at least 1. Most bugs need 2
    ///   or 3.
    /// - Returns: The schedule.
    public static func pct(depth: Int) -> Self { Self(depth: max(1, depth)) }
}

/// The probabilities with which the scheduler deviates from the order of arrival.
struct SchedulingPolicy {
    let reorder: Double
    let hold: Double
    let suspend: Double

    /// Returns the policy of a seed: some seeds change the order often, and others rarely.
    init(_ schedule: SimulationSchedule, random: SimulationRandom) {
        self.reorder = random.pick([0.5, 0.1, 0.02])
        let hold = random.pick([0.02, 0.002, 0])
        // A task with a low priority waits anyhow.
        self.hold = schedule.depth == nil ? hold : 0
        self.suspend = random.pick([0.1, 0.01, 0])
    }
}

/// The priorities of the tasks of a run, for ``SimulationSchedule/pct(depth:)``.
struct TaskPriorities {
    private var priorities: [UInt64: Int] = [:]
    /// The lowest priority so far, below which the next change goes.
    private var lowest = 0
    /// The steps at which the task that would run gets the lowest priority.
    private let changes: Set<Int>
    private let random: SimulationRandom

    init(depth: Int, random: SimulationRandom) {
        self.random = random
        // The length of the run is not known in advance.
        let length = random.pick([20, 100, 500, 2_500])
        self.changes = Set((1..<depth).map { _ in random.int(in: 1...length) })
    }

    /// Returns the index of the task that runs next; the array has at least one task.
    mutating func index(of tasks: [UInt64], at step: Int) -> Int {
        let first = self.highest(of: tasks)
        // A task that polls would otherwise run for ever before the task that it waits for.
        guard self.changes.contains(step) || step % 1_000 == 0 else { return first }
        self.lowest -= 1
        self.priorities[tasks[first]] = self.lowest
        return self.highest(of: tasks)
    }

    private mutating func highest(of tasks: [UInt64]) -> Int {
        var (result, best) = (0, Int.min)
        for (index, task) in tasks.enumerated() {
            let priority = self.priority(of: task)
            if priority > best { (result, best) = (index, priority) }
        }
        return result
    }

    private mutating func priority(of task: UInt64) -> Int {
        if let priority = self.priorities[task] { return priority }
        let priority = self.random.int(in: 1...1_000_000)
        self.priorities[task] = priority
        return priority
    }
}

extension SimulatedLoop.Work {
    /// Whether the work is the job of an actor without a custom executor.
    var isActorJob: Bool { unsafe self.job.map { unsafe waybill_task_number($0) == 0 } ?? false }

    /// The number of the work's task; the closures of a loop are one task, because they keep their order.
    func task(onLoop loop: Int) -> UInt64 {
        guard let job = unsafe self.job else { return 1 << 32 + UInt64(loop) }
        return unsafe UInt64(waybill_task_number(job))
    }
}
