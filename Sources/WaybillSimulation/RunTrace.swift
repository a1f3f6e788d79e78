/// The steps of a run, by which two runs are compared and their first difference is shown.
struct RunTrace: Equatable {
    /// A piece of work that has run.
    struct Step: Equatable {
        /// The number of the work, in the order of arrival.
        let work: Int
        let loop: Int
        /// The simulated time in nanoseconds since the run began.
        let time: Int64
    }

    private(set) var steps: [Step] = []

    mutating func add(step work: Int, loop: Int, time: Int64) {
        self.steps.append(Step(work: work, loop: loop, time: time))
    }

    /// A number that is equal for equal runs, in every process (FNV-1a).
    var hash: UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for step in self.steps {
            for word in [UInt64(step.work), UInt64(step.loop), UInt64(bitPattern: step.time)] {
                hash = (hash ^ word) &* 0x0000_0100_0000_01b3
            }
        }
        return hash
    }

    /// Returns a sentence about the first step in which two runs differ, or nil if they are equal.
    func difference(from other: RunTrace) -> String? {
        for (index, (mine, its)) in zip(self.steps, other.steps).enumerated() where mine != its {
            return "step \(index) ran \(mine) first and \(its) then"
        }
        guard self.steps.count != other.steps.count else { return nil }
        return "the first run had \(self.steps.count) steps and the second \(other.steps.count)"
    }
}

extension RunTrace.Step: CustomStringConvertible {
    var description: String {
        "work \(self.work) of loop \(self.loop) at \(Duration.nanoseconds(self.time))"
    }
}
