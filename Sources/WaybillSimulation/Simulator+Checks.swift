internal import WaybillEventLoop

// The evaluation of invariants, and of the conditions for the end.
extension Simulator {
    /// An invariant, which is checked after each piece of work of a node, and at the end of the run.
    struct Invariant {
        let name: String
        let check: Check
        /// Whether an evaluation of the check has begun.
        var hasBegun = false
        /// Whether an evaluation of the check has ended.
        var hasEnded = false
    }

    /// A condition that must hold in the end.
    struct Expectation {
        let name: String
        let limit: Duration
        let check: Check
        /// Whether the condition has held after the end of the program.
        var hasHeld = false
    }

    /// Checks all invariants, without letting other work run if possible.
    func checkInvariants() {
        guard !self.invariants.isEmpty, self.endedLoops == 0 else { return }
        for index in self.invariants.indices where self.failure == nil && self.endedLoops == 0 {
            let name = self.invariants[index].name
            let result = self.evaluate(self.invariants[index].check)
            self.invariants[index].hasBegun = true
            if result != nil { self.invariants[index].hasEnded = true }
            switch result {
            case .isBroken: self.fail(.invariant(name))
            case .threw(let error): self.fail(.checkThrew(name, error))
            case .holds, nil: break
            }
        }
    }

    /// Fails an invariant that was evaluated in vain.
    private func checkThatInvariantsEnded() {
        guard let invariant = self.invariants.first(where: { $0.hasBegun && !$0.hasEnded }) else { return }
        let reason = "it waits for time or for work of the program, so it was never evaluated to its end"
        self.fail(.checkThrew(invariant.name, "\(reason): use `world.eventually`"))
    }

    /// Returns whether the run has ended well: its program has ended, and every expected condition holds.
    func isFinished() -> Bool {
        self.expectationDeadline = .never
        guard let bodyEndedAt else { return false }
        var broken: [Expectation] = []
        for index in self.expectations.indices {
            switch self.evaluate(self.expectations[index].check) {
            case .holds: self.expectations[index].hasHeld = true
            case .threw(let error):
                self.fail(.checkThrew(self.expectations[index].name, error))
                return false
            case .isBroken, nil: broken.append(self.expectations[index])
            }
        }
        guard !broken.isEmpty else {
            // The work of clients and of plain actors is followed by no other evaluation.
            self.checkInvariants()
            self.checkThatInvariantsEnded()
            return self.failure == nil
        }
        let waited = Duration.nanoseconds(self.time.now - bodyEndedAt)
        let late = broken.filter { waited >= $0.limit || self.time.pending == 0 }
        // While another condition may still come to hold, a condition that has held may be broken again.
        if let failed = late.first(where: { !$0.hasHeld }) ?? (late.count == broken.count ? late.first : nil)
        {
            self.fail(.expectation(failed.name, failed.limit))
        }
        let limits = broken.map(\.limit).filter { $0 > waited }
        if let limit = limits.min() { self.expectationDeadline = Deadline(after: limit, from: bodyEndedAt) }
        return false
    }

    /// Runs a check, and only the work that it causes; returns nil if the check waits for other work, or if a
    /// node loses power during the check.
    private func evaluate(_ check: Check) -> Check.Result? {
        self.collectWork()
        let number = self.loops[check.loop].isRunning ? check.loop : 0
        let loop = self.loops[number].simulated
        self.currentLoop = number
        loop.perform { check.start(on: loop.eventLoop) }
        self.currentLoop = 0
        if check.hasResult { return self.result(of: check) }
        let others = self.ready
        self.ready = []
        self.collectWork()
        // A check reads mostly the actors of one loop, so it begins there next time.
        if let first = self.ready.first { check.loop = first.loop }
        var steps = 0
        while !self.ready.isEmpty, !check.hasResult, steps < self.limits.steps {
            self.run(self.ready.removeFirst(), deliveries: Self.manyDeliveries)
            self.collectWork()
            steps += 1
        }
        self.ready = others + self.ready
        if steps == self.limits.steps { return .threw("it did not end within \(steps) pieces of work") }
        return self.result(of: check)
    }

    private func result(of check: Check) -> Check.Result? {
        let ended = self.endedLoops
        self.observeWork()
        return self.endedLoops == ended ? check.takeResult() : nil
    }
}
