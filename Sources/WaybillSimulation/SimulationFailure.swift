/// The failure of a simulation: the reason, the run, and the call that repeats the run.
public struct SimulationFailure: Error, CustomStringConvertible {
    /// The reason of a failure.
    enum Cause: Sendable {
        case invariant(String)
        case expectation(String, Duration)
        case checkThrew(String, String)
        case programThrew(String)
        case stuck
        case tooMuchTime(Duration)
        case tooManySteps(Int)
        /// Another thread has enqueued a job, which continues with a function whose mangled name may be
        /// known.
        case escape(function: String?)
        case notRepeatable(String)
    }

    /// The seed of the run.
    public let seed: UInt64

    let cause: Cause

    /// The choices of the shortest run that fails in the same way, for
    /// ``simulate(seed:decisions:faults:schedule:limits:_:)``.
    public let decisions: String

    /// The simulated time at which the run failed.
    public let elapsed: Duration

    /// The faults of the simulation.
    public let faults: Faults

    let limits: SimulationLimits
    let diagram: MessageDiagram

    /// The reason of the failure, as one sentence.
    public var reason: String { self.cause.description }

    /// The messages of the run as a sequence diagram in Mermaid syntax.
    public var mermaid: String { self.diagram.mermaid }

    /// The reason, the messages of the run, and the line that runs exactly this again.
    public var description: String {
        """
        \(self.reason) (seed \(self.seed), after \(self.elapsed) of simulated time)
        \(self.diagram.text)
        To run exactly this again: \(self.call)
        """
    }

    /// The call that runs exactly this again, without the closure.
    private var call: String {
        let faults = self.faults.source.map { ", faults: \($0)" } ?? ""
        let limits = self.limits.source.map { ", limits: \($0)" } ?? ""
        return "simulate(seed: \(self.seed), decisions: \"\(self.decisions)\"\(faults)\(limits))"
    }
}

extension SimulationFailure.Cause: CustomStringConvertible {
    var description: String {
        switch self {
        case .invariant(let name): "The invariant \"\(name)\" does not hold"
        case .expectation(let name, let limit):
            "The condition \"\(name)\" does not hold \(limit) after the program has ended"
        case .checkThrew(let name, let error): "The check \"\(name)\" threw an error: \(error)"
        case .programThrew(let error): "The program of the simulation threw an error: \(error)"
        case .stuck:
            "Nothing can happen any more: every task waits for another one, and no timer is pending"
        case .tooMuchTime(let limit): "The program has not ended after \(limit) of simulated time"
        case .tooManySteps(let limit):
            "The program has not ended after \(limit) pieces of work; tasks may wake one another for ever"
        case .escape(let function):
            """
            Another thread enqueued work in the simulation\(function.map { " (it continues with \($0))" } ?? ""), \
            which cannot be repeated: replace code that uses Dispatch, sockets or the main actor by a stub, and \
            give tasks of actors that use neither the bus nor its loop the executor `bus.eventLoop.taskExecutor`
            """
        case .notRepeatable(let difference):
            """
            Two runs of the same seed differ: \(difference). Code of the simulation depends on something that a \
            seed does not determine: on state that an earlier run has left in a global variable or a file, or on \
            the address of an object
            """
        }
    }

    /// Whether two runs fail in the same way, apart from details such as the text of an error.
    func isSame(as other: Self) -> Bool {
        switch (self, other) {
        case (.invariant(let name), .invariant(let other)): name == other
        case (.expectation(let name, _), .expectation(let other, _)): name == other
        case (.checkThrew(let name, _), .checkThrew(let other, _)): name == other
        case (.programThrew(let error), .programThrew(let other)): error == other
        case (.stuck, .stuck), (.tooMuchTime, .tooMuchTime), (.tooManySteps, .tooManySteps): true
        case (.escape, .escape), (.notRepeatable, .notRepeatable): true
        default: false
        }
    }
}
