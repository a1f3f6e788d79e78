import Testing
internal import WaybillEventLoop
import WaybillTestSupport

@testable internal import Waybill

/// A method of an actor, and a function with the actor as its first argument, have the same calling
/// convention.
///
/// If one of these tests fails after a change of toolchain, the cast of `IsolatedBody` or of
/// `QueuedTask.makeWaitingTask(_:)` no longer holds.
@Suite(.timeLimit(.minutes(1)))
struct HandlerCodeTests {
    private struct Wide: Sendable, Equatable {
        var words = [1, 2, 3, 4].map(String.init)
        var (a, b, c, d) = (1, 2.5, "three", Int128.max)
    }

    private struct Refusal: Error, Equatable {}

    private actor Target: LoopBound {
        let eventLoop = EventLoop(name: "target")
        private var sum = 0

        func add(_ message: Message) -> Int {
            self.sum += Int(message.id.rawValue)
            return self.sum
        }

        func wide(_ message: Message) -> Wide { Wide() }
        func none(_ message: Message) {}
        func maybe(_ message: Message) -> Int?? { .some(nil) }
        func box(_ message: Message) -> any Sendable { Wide() }
        func function(_ message: Message) -> @Sendable (Int) -> Int { { $0 + 1 } }
        func refuse(_ message: Message) throws -> Wide { throw Refusal() }
    }

    @Test
    func `a handler of an actor receives the message, whatever type it returns`() async throws {
        let target = Target()
        let message = try StateParts().message(7)
        // A handler may be called only on the loop of its actor, and these calls are.
        let add = unsafe IsolatedBody { (target: isolated Target, message) in target.add(message) }
            .unisolated(target)
        let wide = unsafe IsolatedBody { (target: isolated Target, message) in target.wide(message) }
            .unisolated(target)
        let none = unsafe IsolatedBody { (target: isolated Target, message) in target.none(message) }
            .unisolated(target)
        let maybe = unsafe IsolatedBody { (target: isolated Target, message) in target.maybe(message) }
            .unisolated(target)
        let box = unsafe IsolatedBody { (target: isolated Target, message) in target.box(message) }
            .unisolated(target)
        let function = unsafe IsolatedBody { (target: isolated Target, message) in target.function(message) }
            .unisolated(target)
        let refuse = unsafe IsolatedBody { (target: isolated Target, message) in try target.refuse(message) }
            .unisolated(target)
        await target.eventLoop.run {
            #expect(throws: Never.self) {
                let sums = [try add(message), try add(message)]
                #expect(sums == [7, 14])
                #expect(try wide(message) == Wide())
                try none(message)
                #expect(try maybe(message) == .some(nil))
                #expect(try box(message) as? Wide == Wide())
                #expect(try function(message)(1) == 2)
            }
            #expect(throws: Refusal()) { try refuse(message) }
        }
    }

    @TaskLocal private static var number = 0

    @Test
    func `a task in a mailbox starts where it is resumed, with its creator's task-local values`()
        async throws
    {
        let parts = try StateParts()
        let queued = parts.task(7, parts.handler(), takesSlot: false)
        let journal = Journal<Int>()
        let task = Self.$number.withValue(3) {
            QueuedTask.makeWaitingTask(queued) { queued in
                journal.add(Int(queued.message.id.rawValue))
                journal.add(HandlerCodeTests.number)
            }
        }
        await Task.yield()
        #expect(journal.entries.isEmpty)
        queued.resume()
        try await task.value
        #expect(journal.entries == [7, 3])
    }
}
