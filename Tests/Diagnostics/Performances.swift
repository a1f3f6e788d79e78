// A router whose destination is not what its service asks for does not compile.
import Waybill
import WaybillPerformances

protocol Timer: Sendable { func seconds() -> Int }

struct Stopwatch: Sendable {}

struct Maker: ServiceRouter {
    func makeDestination() async throws -> (any Timer)? {
        Stopwatch()  // error: does not conform to 'Timer'
    }
}
