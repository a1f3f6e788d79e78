internal import WaybillEventLoop
internal import WaybillRouting
import WaybillTestSupport

@testable internal import Waybill

/// The parts that tests of state values need: messages, handlers and buffers of a bus without traffic.
struct StateParts {
    private let bus = MessageBus(configuration: .quiet)
    private let address: Address

    init() throws { self.address = try Address("app://state") }

    var core: BusCore { self.bus.core }

    func message(_ id: Int) -> Message {
        Message(
            id: CorrelationID(rawValue: UInt64(id)),
            parameters: Parameters(address: self.address),
            hops: 0
        )
    }

    func handler() -> Handler {
        Handler(synchronous: { _ in 0 }, core: self.core)
    }

    /// Creates an exchange that is over when it is finished, and is not counted.
    func exchange(_ id: Int) -> Exchange {
        Exchange(for: self.message(id), ticket: nil, at: nil, to: .caller, core: self.core)
    }

    func state(at handler: Handler? = nil) -> Exchange.State {
        Exchange.State(of: self.message(1), ticket: nil, handler: handler)
    }

    /// Creates a message that no caller awaits, and that must be settled.
    func envelope(_ id: Int, _ handler: Handler) -> Envelope {
        Envelope(
            message: self.message(id),
            ticket: self.core.openTicket(on: nil),
            target: .handler(handler),
            core: self.core
        )
    }

    /// Creates a task that waits in a queue, and that only tests resume.
    func task(_ id: Int, _ handler: Handler, takesSlot: Bool) -> QueuedTask {
        QueuedTask(self.message(id), for: handler, takesSlot: takesSlot)
    }

    func mailbox(limit: Int = 8, of owner: (any LoopBound)? = nil) -> Mailbox {
        Mailbox(eventLoop: self.bus.eventLoop, limit: limit, owner: owner)
    }

    func buffer() -> SubscriptionBuffer {
        SubscriptionBuffer(of: "app://state", limit: 8, whenFull: .fail, core: self.core)
    }
}
