#if Durable
/// The decisions about when an attempt may begin.
///
/// A lane is a queue of messages that share a limit on concurrent attempts. Each policy has one lane, and
/// messages without a policy share a lane. Messages that the end of a process has interrupted more than once
/// share another lane. The value performs no I/O.
struct Lanes {
    private var lanes: [String: Lane] = [:]
    /// Whether delivery to a bus has begun, so that all attempts underway in the file are of this process.
    var hasBegun = false
    /// Whether delivery has ended, because the store is closing or the bus has shut down.
    var hasEnded = false

    private struct Lane {
        var limit: Int
        var inFlight = 0
        /// The time at which the first waiting message is due; nil when no message waits.
        var nextDue: Int?
    }

    var isDelivering: Bool { self.hasBegun && !self.hasEnded }

    var inFlight: Int { self.lanes.values.reduce(0) { $0 + $1.inFlight } }

    mutating func setLimit(_ limit: Int, of lane: String) {
        self.lanes[lane, default: Lane(limit: limit)].limit = max(1, limit)
    }

    /// Returns whether a message that is sent and due now need not wait for its attempt.
    func hasSlot(in lane: String, at now: Int) -> Bool {
        guard self.isDelivering, let state = self.lanes[lane] else { return false }
        return state.inFlight < state.limit && state.nextDue.map { $0 > now } ?? true
    }

    mutating func takeSlot(in lane: String) { self.lanes[lane]?.inFlight += 1 }

    mutating func wait(in lane: String, until due: Int) {
        let next = self.lanes[lane]?.nextDue ?? due
        self.lanes[lane]?.nextDue = min(next, due)
    }

    mutating func freeSlot(in lane: String) { self.lanes[lane]?.inFlight -= 1 }

    /// Returns the lanes that have a due message, in the order of their names.
    ///
    /// The order of a dictionary differs from run to run, so a simulation could not be repeated with it.
    func due(at now: Int) -> [String] {
        guard self.isDelivering else { return [] }
        return self.lanes.filter { $0.value.nextDue.map { $0 <= now } ?? false }.keys.sorted()
    }

    func freeSlots(in lane: String) -> Int { self.lanes[lane].map { max(0, $0.limit - $0.inFlight) } ?? 0 }

    /// Sets the time at which the first waiting message of a lane is due; nil if no message waits.
    mutating func setNextDue(_ due: Int?, of lane: String) { self.lanes[lane]?.nextDue = due }

    /// The first time at which an attempt can begin without the end of another; nil if there is none.
    var wakeTime: Int? {
        guard self.isDelivering else { return nil }
        return self.lanes.values.compactMap { $0.inFlight < $0.limit ? $0.nextDue : nil }.min()
    }
}
#endif
