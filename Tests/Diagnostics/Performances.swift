// A router with the wrong destination type does not compile.
import Waybill
import WaybillPerformances

protocol Timer: Sendable { func seconds() -> Int }

struct Stopwatch: Sendable {}

struct Maker: ServiceRouter {
    func makeDestination() async throws -> (any Timer)? {
        Stopwatch()  // error: does not conform to 'Timer'
    }
}

protocol Bell: Sendable {}

struct Clock: Timer, Bell {
    func seconds() -> Int { 0 }
}

struct ClockRouter: ServiceRouter {
    func makeDestination() async throws -> Clock? { Clock() }
}

func provide(on bus: MessageBus) throws {
    try bus.provide((any Timer).self, by: ClockRouter()) { $0 }
    try bus.provide((any Bell).self, by: ClockRouter())  // error: convert the destination
}
