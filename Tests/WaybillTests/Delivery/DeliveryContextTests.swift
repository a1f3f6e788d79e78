import Testing
internal import WaybillEventLoop
import WaybillTestSupport

@testable internal import Waybill

@Suite(.timeLimit(.minutes(1)))
struct DeliveryContextTests {
    @Test func `a context that has ended does not wait for a later task with the same number`() async throws {
        let exchange = try StateParts().exchange(1)
        // A test runs in a child task, which every context waits for.
        await Task {
            let context = exchange.beginRunning()
            DeliveryContext.local.withValue(context.inherited) {
                #expect(DeliveryContext.waiting?.id == exchange.id)
                exchange.endRunning()
                #expect(DeliveryContext.waiting == nil)
                #expect(DeliveryContext.current?.id == exchange.id)
            }
        }.value
        exchange.cancel()
    }

    @Test func `the context of code that has returned does not wait`() async throws {
        let message = try StateParts().message(1)
        await Task {
            let record = DeliveryContext(ContextRecord(message, inside: nil))
            DeliveryContext.run(in: record) { #expect(DeliveryContext.waiting?.id == message.id) }
            DeliveryContext.local.withValue(record.inherited) { #expect(DeliveryContext.waiting == nil) }
        }.value
    }

    @Test func `a task that a handler starts does not retain the reply of a sent message`() async throws {
        final class Large: Sendable {}
        let bus = MessageBus(configuration: .quiet)
        let (end, hasReplied) = (Gate(), Gate())
        weak let value: Large?
        do {
            let large = Large()
            value = large
            let values = Locked<Large?>(large)
            try bus.register("app://sent") { _ async -> Large in
                Task { await end.wait() }
                hasReplied.open()
                return values.withLock { $0.take() } ?? Large()
            }
        }
        bus.send("app://sent")
        await hasReplied.wait()
        #expect(await eventually { value == nil })
        end.open()
    }
}
