#if NATS
import Testing

@testable import WaybillNATS

@Suite
final class DrainQueueTests {
    private var queue = NATSDrainQueue()

    /// Appends a step, and returns whether it needs a thread.
    @discardableResult
    private func append(_ step: NATSDrainQueue.Step) -> Bool { self.queue.append(step) }

    /// Returns the next steps as texts: the address, the subject, and whether the drain has started.
    private func takeGroup(freed: Int) -> [String] {
        self.queue.takeGroup(freed: freed).map { step in
            switch step {
            case .free(let address, let subject, let isDraining): "\(address) \(subject) \(isDraining)"
            case .flush: "flush"
            }
        }
    }

    private func takeBack(_ subject: String) -> UInt? { self.queue.takeBack(subject) }

    @Test func `steps are taken in order, a flush alone and subscriptions together`() {
        #expect(self.append(.free(1, of: "a", isDraining: true)))
        #expect(!self.append(.free(2, of: "b", isDraining: false)))
        #expect(!self.append(.flush {}))
        #expect(!self.append(.free(3, of: "c", isDraining: false)))
        #expect(self.takeGroup(freed: 0) == ["1 a true", "2 b false"])
        #expect(self.takeGroup(freed: 2) == ["flush"])
        #expect(self.takeGroup(freed: 0) == ["3 c false"])
        #expect(self.takeGroup(freed: 1).isEmpty)
        // The thread has ended, so the next step needs another one.
        #expect(self.append(.flush {}))
    }

    @Test func `a group has a limited number of subscriptions, until they are freed`() {
        let size = NATSDrainQueue.groupSize
        for number in 0..<size {
            #expect(self.queue.hasRoom)
            self.append(.free(UInt(number), of: "s", isDraining: true))
        }
        #expect(!self.queue.hasRoom)
        self.append(.free(0, of: "s", isDraining: false))
        #expect(self.takeGroup(freed: 0).count == size)
        #expect(!self.queue.hasRoom)
        #expect(self.takeGroup(freed: size).count == 1)
        #expect(self.queue.hasRoom)
    }

    @Test func `a subscription whose drain has not started can be used again`() {
        self.append(.free(1, of: "a", isDraining: true))
        self.append(.free(2, of: "b", isDraining: false))
        #expect(self.takeBack("a") == nil)
        #expect(self.takeBack("b") == 2)
        #expect(self.takeBack("b") == nil)
        #expect(self.takeGroup(freed: 0) == ["1 a true"])
    }
}
#endif
