internal import WaybillEventLoop
internal import WaybillRouting
import WaybillTestSupport

@testable internal import Waybill

/// What state values hold in a test: messages, handlers and buffers of a bus that carries nothing.
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
        Handler(immediate: { _ in 0 }, mailbox: self.core.homeMailbox, core: self.core)
    }

    /// An exchange that is over when it is finished, and is not counted.
    func exchange(_ id: Int) -> Exchange {
        Exchange(CorrelationID(rawValue: UInt64(id)), url: "app://state", core: self.core, .attempt)
    }

    /// A task that waits in a queue, and that only tests resume.
    func task(_ id: Int, _ handler: Handler, _ exchange: Exchange?, takesSlot: Bool) -> QueuedTask {
        QueuedTask(
            self.message(id),
            handler,
            for: exchange,
            takesSlot: takesSlot,
            on: handler.mailbox.heldLoop
        )
    }

    func mailbox() -> Mailbox {
        Mailbox(eventLoop: self.bus.eventLoop, configuration: MailboxConfiguration(), limit: 8)
    }

    func buffer() -> SubscriptionBuffer {
        SubscriptionBuffer(of: "app://state", limit: 8, whenFull: .fail, core: self.core)
    }
}

/// Numbers that look random and are the same in each run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        // SplitMix64.
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var bits = self.state
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return bits ^ (bits >> 31)
    }

    /// Whether something happens that does in one of some cases.
    mutating func isOne(in cases: Int) -> Bool { Int.random(in: 0..<cases, using: &self) == 0 }

    /// A number below a bound.
    mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}
