internal import WaybillEventLoop

/// A condition of a simulation, and the evaluation that is running.
///
/// The compiler cannot check `Sendable` here. The proof is the one of ``Simulator``: only the thread of the
/// simulation calls the methods, and runs the condition.
final class Check: @unchecked Sendable {
    enum Result {
        case holds, isBroken
        case threw(String)
    }

    /// An actor on the loop where the evaluation begins.
    ///
    /// A condition that reads only actors of this loop ends without a change of executor.
    private actor Starter: LoopBound {
        nonisolated let eventLoop: EventLoop

        init(_ eventLoop: EventLoop) { self.eventLoop = eventLoop }

        func start(_ check: Check, number: Int) {
            Task.immediate {
                // The task is isolated to this actor because it refers to it.
                _ = self
                let result: Result
                do {
                    result = try await check.condition() ? .holds : .isBroken
                } catch {
                    result = .threw("\(error)")
                }
                check.end(number, with: result)
            }
        }
    }

    private let condition: @Sendable () async throws -> Bool
    /// The loop on which the condition begins.
    var loop = 0
    private var starter: Starter?
    private var number = 0
    private var result: Result?

    init(_ condition: @escaping @Sendable () async throws -> Bool) { self.condition = condition }

    /// Starts an evaluation; only the thread that runs the loop may call this method.
    func start(on eventLoop: EventLoop) {
        let starter: Starter
        if let known = self.starter, known.eventLoop === eventLoop {
            starter = known
        } else {
            starter = Starter(eventLoop)
            self.starter = starter
        }
        self.number += 1
        self.result = nil
        starter.assumeOnLoop { $0.start(self, number: self.number) }
    }

    /// Whether the latest evaluation has ended.
    var hasResult: Bool { self.result != nil }

    /// Returns the result of the latest evaluation; nil if it has not ended.
    func takeResult() -> Result? { self.result.take() }

    private func end(_ number: Int, with result: Result) {
        // An earlier evaluation that was waiting for other work does not count.
        if number == self.number { self.result = result }
    }
}
