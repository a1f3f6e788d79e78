internal import CSimulation
internal import Waybill
internal import WaybillEventLoop

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The scheduler of one run: it runs all work of a simulated world on one thread, in an order that decisions
/// determine, and advances the time when no work is left.
///
/// The compiler cannot check `Sendable` here. The proof: every method is called on the thread of the
/// simulation, by the scheduler or by the work that it runs.
final class Simulator: @unchecked Sendable {
    /// A loop of the world.
    struct Loop {
        let simulated: SimulatedLoop
        var isRunning = true
    }

    /// Work that is ready to run.
    struct Entry {
        let sequence: Int
        let loop: Int
        let work: SimulatedLoop.Work
    }

    /// Work that waits although it could run.
    private struct HeldEntry {
        let entry: Entry
        let until: Int
    }

    private let seed: UInt64
    let time = ManualTime(now: Simulator.epoch)
    /// The time of ``time``, which is read without its lock.
    private var now = Simulator.epoch
    let faults: Faults
    let limits: SimulationLimits
    /// Whether the messages of the run are recorded.
    let isRecorded: Bool
    private(set) var messages: [RecordedEvent] = []
    private var kept: [Registration] = []
    private let policy: SchedulingPolicy
    /// The priorities of the tasks; nil if the schedule has none.
    private var priorities: TaskPriorities?
    private var decisions: Decisions
    private(set) var trace = RunTrace()

    var loops: [Loop] = []
    /// The closures that are called on a loop when it ends, by the number of the loop.
    private var loopEndings: [Int: [@Sendable () -> Void]] = [:]
    var currentLoop = 0
    var ready: [Entry] = []
    private var held: [HeldEntry] = []
    private var nextSequence = 0
    private var step = 0

    var invariants: [Invariant] = []
    var expectations: [Expectation] = []
    var failure: SimulationFailure.Cause?
    var bodyEndedAt: Int64?
    /// The time by which a condition must hold that did not hold when it was last evaluated.
    var expectationDeadline = Deadline.never
    /// The actions that happen at a later step, such as a crash.
    private var planned: [(step: Int, action: () -> Void)] = []
    /// Called when the run ends.
    private var endings: [() -> Void] = []
    /// The number of loops that have ended and that no restarted node has replaced.
    var endedLoops = 0
    /// Called after each piece of work.
    private var workObservers: [() -> Void] = []
    /// Called when time passes, with the number of nanoseconds.
    private var timeObservers: [(Int64) -> Void] = []

    /// The time at which every world begins, in nanoseconds.
    private static let epoch: Int64 = 1_000_000_000_000

    /// The longest run of work that delivers without suspending.
    static let manyDeliveries = 1 << 40

    init(
        seed: UInt64,
        decisions: Decisions,
        faults: Faults,
        schedule: SimulationSchedule,
        limits: SimulationLimits,
        isRecorded: Bool
    ) {
        self.seed = seed
        self.isRecorded = isRecorded
        let random = SimulationRandom(seed: seed ^ 0x706f_6c69_6379)
        self.policy = SchedulingPolicy(schedule, random: random)
        self.priorities = schedule.depth.map { TaskPriorities(depth: $0, random: random) }
        self.decisions = decisions
        self.faults = faults
        self.limits = limits
        // The loop of the world runs clients, checks, and tasks that belong to no node.
        _ = self.addLoop("world")
    }

    /// The choices of the run that differ from their default.
    var decisionsMade: [Decisions.Decision] { self.decisions.made }

    /// The simulated time since the run began.
    var elapsed: Duration { .nanoseconds(self.time.now - Self.epoch) }

    /// The executor of the world's own tasks.
    var executor: EventLoopTaskExecutor { self.loops[0].simulated.executor }

    /// Makes a choice; see ``Decisions/choose(_:below:odds:)``.
    func choose(_ kind: Decisions.Kind, below bound: Int, odds: Double) -> Int {
        self.decisions.choose(kind, below: bound, odds: odds)
    }

    func fail(_ cause: SimulationFailure.Cause) {
        if self.failure == nil { self.failure = cause }
    }
}

// Loops.
extension Simulator {
    /// Adds a loop, and returns its number.
    func addLoop(_ name: String) -> Int {
        self.loops.append(Loop(simulated: SimulatedLoop(name: name, time: self.time)))
        return self.loops.count - 1
    }

    func eventLoop(_ number: Int) -> EventLoop { self.loops[number].simulated.eventLoop }

    func executor(of number: Int) -> EventLoopTaskExecutor { self.loops[number].simulated.executor }

    /// Calls a closure on a loop when the loop ends.
    func atEnd(ofLoop number: Int, _ body: @escaping @Sendable () -> Void) {
        self.loopEndings[number, default: []].append(body)
    }

    /// Runs a closure that releases objects of a loop, on the loop.
    func release(onLoop number: Int, _ body: () -> Void) { self.loops[number].simulated.release(body) }

    /// Records that a node which had ended runs again with new loops.
    func replaceEndedLoops(_ count: Int) { self.endedLoops -= count }

    /// Ends a loop and its work, as the end of a process would.
    func endLoop(_ number: Int) {
        self.loops[number].isRunning = false
        self.endedLoops += 1
        let ended = (self.ready + self.held.map(\.entry)).filter { $0.loop == number }
        self.ready.removeAll { $0.loop == number }
        self.held.removeAll { $0.entry.loop == number }
        for entry in ended { self.keepActorJob(entry.work) }
        // The loop that is running now ends after its current piece of work.
        if number != self.currentLoop { self.close(number) }
    }

    private func close(_ number: Int) {
        self.runEndings(of: number)
        let loop = self.loops[number].simulated
        var left: [SimulatedLoop.Work] = []
        loop.takeWork { left.append($0) }
        for work in left where !self.keepActorJob(work) { loop.discard(work) }
        loop.end()
    }

    /// Moves the job of an actor without an executor from a loop that has ended to the loop of the world.
    ///
    /// The runtime enqueues one job for all tasks that wait for such an actor. The actor may live longer than
    /// the node, and without the job it would not run any task again.
    ///
    /// - Returns: Whether the work is such a job.
    @discardableResult
    private func keepActorJob(_ work: SimulatedLoop.Work) -> Bool {
        guard work.isActorJob else { return false }
        self.ready.append(Entry(sequence: self.nextSequence, loop: 0, work: work))
        self.nextSequence += 1
        return true
    }

    private func runEndings(of number: Int) {
        guard let endings = self.loopEndings.removeValue(forKey: number) else { return }
        self.loops[number].simulated.perform { for ending in endings { ending() } }
    }

    /// Ends all loops, and releases the code of the world, which refers to this object.
    func end() {
        self.currentLoop = -1
        for number in self.loops.indices { self.runEndings(of: number) }
        for ending in self.endings { ending() }
        (self.endings, self.invariants, self.expectations) = ([], [], [])
        (self.planned, self.timeObservers, self.workObservers, self.kept) = ([], [], [], [])
        for number in self.loops.indices where self.loops[number].isRunning {
            let loop = self.loops[number].simulated
            // A bus that ends releases what its loops remember in closures on these loops.
            loop.takeWork { work in
                // The memory of a closure ends with its run.
                if work.isClosure {
                    loop.run(work, deliveries: 0)
                } else {
                    self.keepActorJob(work)
                }
            }
            self.loops[number].isRunning = false
            loop.end()
        }
        self.runActorJobs()
    }

    /// Runs the jobs of actors that may live longer than the world, so that they can run tasks again.
    ///
    /// A task of the world ends its work when it needs a loop, because all loops have ended. A task that needs
    /// none may never end, so the number of jobs is limited.
    private func runActorJobs() {
        self.ready = (self.ready + self.held.map(\.entry)).filter(\.work.isActorJob)
        for _ in 0..<1_000 where !self.ready.isEmpty {
            self.loops[0].simulated.run(self.ready.removeFirst().work, deliveries: 0)
        }
    }

    /// Receives a job that the runtime was about to run on the default executor.
    private func receive(_ job: UnsafeMutableRawPointer) {
        let loop = self.loops[max(0, self.currentLoop)]
        if loop.isRunning {
            unsafe loop.simulated.enqueue(job: job)
        } else {
            // The loop of the running code has ended within its current piece of work.
            unsafe self.keepActorJob(SimulatedLoop.Work(job: job))
        }
    }

    /// Returns the mangled name of the function with which a job continues.
    private static func function(of job: UnsafeMutableRawPointer) -> String? {
        guard let name = unsafe waybill_symbol_name(waybill_job_function(job)) else { return nil }
        return unsafe String(cString: name)
    }

    /// Runs code whose tasks, time and random numbers belong to the simulation.
    func simulating<Result>(_ body: () -> Result) -> Result {
        // The simulator outlives the call, during which the thread refers to it.
        let context = unsafe CallbackContext.borrowing(self)
        unsafe waybill_enter_simulation(
            { unsafe CallbackContext.object(of: $0, as: Simulator.self).receive($1) },
            context,
            self.seed,
            self.time.now
        )
        defer { waybill_leave_simulation() }
        return body()
    }
}

// Conditions.
extension Simulator {
    func addInvariant(_ name: String, _ check: @escaping @Sendable () async throws -> Bool) {
        self.invariants.append(Invariant(name: name, check: Check(check)))
    }

    func addExpectation(
        _ name: String,
        within limit: Duration,
        _ check: @escaping @Sendable () async throws -> Bool
    ) {
        self.expectations.append(Expectation(name: name, limit: limit, check: Check(check)))
    }

    /// Plans an action for a later step of the run.
    func plan(afterSteps steps: Int, _ action: @escaping () -> Void) {
        self.planned.append((self.step + steps, action))
    }

    /// Calls a closure when the run ends.
    func atEnd(_ body: @escaping () -> Void) { self.endings.append(body) }

    /// Calls a closure after each piece of work and each check.
    func observeWork(_ observer: @escaping () -> Void) { self.workObservers.append(observer) }

    /// Calls a closure whenever time passes.
    func observeTime(_ observer: @escaping (Int64) -> Void) { self.timeObservers.append(observer) }

    /// Calls a closure on the world's loop after a delay.
    func afterDelay(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
        let loop = self.eventLoop(0)
        self.time.schedule(at: Deadline(after: delay, by: TimeSource(manual: self.time))) {
            loop.execute(body)
        }
    }

    func add(_ event: RecordedEvent) { self.messages.append(event) }

    /// Keeps a registration until the run ends.
    func keep(_ registration: Registration) { self.kept.append(registration) }

    /// Records that the program of the simulation has ended.
    func endBody() { self.bodyEndedAt = self.time.now }
}

// The run.
extension Simulator {
    /// Runs the world until its program has ended and every condition holds; returns nil on success.
    func run() -> SimulationFailure.Cause? {
        // The task of the program was created on the thread of the test.
        self.loops[0].simulated.acceptForeignWork()
        while self.failure == nil {
            self.collectWork()
            if let entry = self.nextEntry() {
                self.perform(entry)
                self.observeWork()
                // Clients and checks, which run on the loop of the world, change no module.
                if entry.loop != 0 { self.checkInvariants() }
            } else if self.isFinished() {
                break
            } else if self.failure == nil {
                self.passTime()
            }
            if self.step > self.limits.steps { self.fail(.tooManySteps(self.limits.steps)) }
        }
        return self.failure
    }

    /// Takes the work that the loops have received.
    func collectWork() {
        for number in self.loops.indices where self.loops[number].isRunning {
            let loop = self.loops[number].simulated
            loop.takeWork { work in
                self.ready.append(Entry(sequence: self.nextSequence, loop: number, work: work))
                self.nextSequence += 1
            }
            if loop.hasForeignWork {
                let job = unsafe self.ready.last { $0.loop == number }?.work.job
                self.fail(.escape(function: unsafe job.flatMap { unsafe Self.function(of: $0) }))
            }
        }
    }

    /// Removes and returns the work that runs next.
    private func nextEntry() -> Entry? {
        if !self.held.isEmpty {
            self.release { $0.until <= self.step }
            if self.ready.isEmpty, let first = self.held.map(\.until).min() {
                self.release { $0.until == first }
            }
        }
        guard !self.ready.isEmpty else { return nil }
        if self.ready.count > 1, !self.ready[0].work.isClosure {
            let periods = [4, 16, 64, 256]
            let choice = self.choose(.hold, below: periods.count + 1, odds: self.policy.hold)
            if choice > 0 {
                let entry = self.ready.removeFirst()
                self.held.append(HeldEntry(entry: entry, until: self.step + periods[choice - 1]))
            }
        }
        let index = self.nextIndex()
        return self.ready.remove(at: self.firstIndex(insteadOf: index))
    }

    private func nextIndex() -> Int {
        guard self.priorities != nil else {
            return self.choose(.order, below: self.ready.count, odds: self.policy.reorder)
        }
        return self.decisions.choose(.order, below: self.ready.count) {
            let tasks = self.ready.map { $0.work.task(onLoop: $0.loop) }
            return self.priorities?.index(of: tasks, at: self.step) ?? 0
        }
    }

    /// Returns the index of work that may run instead, because the closures of a loop keep their order.
    private func firstIndex(insteadOf index: Int) -> Int {
        let entry = self.ready[index]
        guard entry.work.isClosure else { return index }
        return self.ready.firstIndex { $0.loop == entry.loop && $0.work.isClosure } ?? index
    }

    private func release(where isDue: (HeldEntry) -> Bool) {
        for held in self.held where isDue(held) { self.ready.append(held.entry) }
        self.held.removeAll(where: isDue)
    }

    private func perform(_ entry: Entry) {
        self.step += 1
        self.trace.add(step: entry.sequence, loop: entry.loop, time: self.now - Self.epoch)
        // The closures of a loop must not let other work run between two messages of one node.
        let suspends =
            entry.work.isClosure ? 0 : self.choose(.suspend, below: 3, odds: self.policy.suspend)
        self.run(entry, deliveries: suspends == 0 ? Self.manyDeliveries : suspends - 1)
        if !self.planned.isEmpty {
            let due = self.planned.filter { $0.step <= self.step }
            self.planned.removeAll { $0.step <= self.step }
            for plan in due { plan.action() }
        }
    }

    /// Lets a node whose disk has lost power crash.
    func observeWork() {
        for observer in self.workObservers { observer() }
    }

    func run(_ entry: Entry, deliveries: Int) {
        self.currentLoop = entry.loop
        self.loops[entry.loop].simulated.run(entry.work, deliveries: deliveries)
        self.currentLoop = 0
        if !self.loops[entry.loop].isRunning { self.close(entry.loop) }
    }

    /// Advances the time to the next timer or to the deadline of a condition; fails without a timer.
    private func passTime() {
        let before = self.now
        let end = Deadline(after: self.limits.time, from: Self.epoch)
        let limit = min(end, self.expectationDeadline)
        guard self.time.pending > 0 || limit < end else {
            return self.hasWorkElsewhere() ? () : self.fail(.stuck)
        }
        guard self.time.ringNext(until: limit) || limit < end else {
            return self.fail(.tooMuchTime(self.limits.time))
        }
        self.now = self.time.now
        waybill_set_time(self.now)
        let passed = self.now - before
        if passed > 0 { for observer in self.timeObservers { observer(passed) } }
    }
}

// Work that has left the simulation.
extension Simulator {
    /// Waits until another thread enqueues work, for at most a tenth of a second of real time.
    private func hasWorkElsewhere() -> Bool {
        // The clock of this thread stands still.
        for _ in 0..<100 {
            if self.loops.contains(where: { $0.isRunning && $0.simulated.hasForeignWork }) { return true }
            usleep(1_000)
        }
        return false
    }
}
