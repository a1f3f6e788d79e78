#if Macros
package import Waybill
package import WaybillSimulation

/// A program with one defect that depends on the order of its tasks, on time or on a fault.
///
/// The comment of a bug names an issue of a known project with the same defect, if there is one.
package struct PlantedBug: Sendable {
    /// The defect in a few words.
    package let name: String
    /// The faults that a simulation of the program injects.
    package let faults: Faults
    /// The program, with the conditions that the defect breaks.
    package let program: @Sendable (World) async throws -> Void
    /// An ordinary test of the program, which calls the modules one after the other, without faults.
    ///
    /// The test returns whether the results are right.
    package let ordinaryTest: @Sendable (MessageBus) async throws -> Bool

    init(
        _ name: String,
        faults: Faults = .none,
        program: @escaping @Sendable (World) async throws -> Void,
        ordinaryTest: @escaping @Sendable (MessageBus) async throws -> Bool
    ) {
        self.name = name
        self.faults = faults
        self.program = program
        self.ordinaryTest = ordinaryTest
    }

    /// All planted bugs.
    package static let all: [PlantedBug] = [
        .lostUpdate, .checkThenAct, .staleCache, .doubleConnection, .tornTransfer,
        .doubleRefund, .forgottenReservation, .retryThatIsNotIdempotent, .deadlineBetweenWrites,
        .leakedPermit,
        .orderOfTwoModules, .missedFirstMessage, .waitsForItself, .lostWakeUp, .locksInTwoOrders,
        .crashBeforePublication, .scheduleThatRunsTwice, .expiredLease, .registeredTwice, .lateReplyWins,
    ]
}
#endif
