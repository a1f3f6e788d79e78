#if HTTP
internal import DequeModule
internal import Waybill
internal import WaybillRouting

/// The recorded messages of a bus while it is observed.
///
/// The value makes decisions, and runs no code of the program.
///
/// Every message is counted, and its duration is recorded. Whether a message is kept is decided when it
/// begins. If a kept message caused it, the message joins the flow of that message within the limits.
/// Otherwise the message begins a new flow if the quota of its route, or the spare quota of all routes,
/// allows a new flow. A route with many messages loses its own flows first when memory is short.
struct RecorderState: Sendable {
    /// The decision whether a message is kept, or only counted.
    enum Decision: Sendable {
        case count
        /// The message begins a new flow.
        case begin
        /// The message joins the flow with this number.
        case join(Int)
    }

    /// The decision on a message that has begun, and the readers whose pattern matches its URL.
    struct Begun: Sendable {
        let decision: Decision
        let readers: UInt32
        /// The number of readers that had been added before the message began.
        fileprivate let readerCount: Int
    }

    private struct Place {
        let flow: Int
        let message: Int
    }

    private struct RouteRecord {
        var quota: TokenBucket
        var flows: Deque<Int> = []
        var size = 0
        var latency = LatencyHistogram()
    }

    /// An open page that receives the recorded messages.
    fileprivate struct Reader {
        let scope: RouteTable<Void>?
        /// The number of readers that had been added before this reader.
        let number: Int
        var counted = 0
        var shown = 0
        var revision = 0
    }

    private let limits: RecordingLimits
    private var flows: [Int: RecordedFlow] = [:]
    private var places: [CorrelationID: Place] = [:]
    private var routes: [String: RouteRecord] = [:]
    private var spare: TokenBucket
    private var followers: TokenBucket
    private var lastFlow = 0
    private(set) var size = 0
    private(set) var latency = LatencyHistogram()

    /// The messages that have begun and have no outcome yet.
    ///
    /// If a dead letter is not in this set, and has not just failed, its message was never delivered.
    private var inFlight: Set<CorrelationID> = []
    private var failed: Set<CorrelationID> = []
    private var failures: Deque<CorrelationID> = []
    private static let (inFlightLimit, failureLimit) = (100_000, 4096)

    /// The messages that have changed, in the order of their changes.
    ///
    /// The last change has the revision ``revision``.
    private var changes: Deque<CorrelationID> = []
    private(set) var revision = 0
    private static let changeLimit = 8192

    /// The readers.
    ///
    /// The index of a reader is its bit in ``RecordedMessage/readers``.
    private var readers: [Reader?] = []
    /// The number of readers that have been added.
    private var readerCount = 0
    static let readerLimit = 32

    init(_ limits: RecordingLimits, at time: Double) {
        self.limits = limits
        self.spare = TokenBucket(rate: limits.spareFlows, at: time)
        self.followers = TokenBucket(rate: limits.followers, at: time)
    }

    /// Removes everything except the readers.
    mutating func clear(at time: Double) {
        let (readers, readerCount, revision) = (self.readers, self.readerCount, self.revision)
        self = Self(self.limits, at: time)
        (self.readers, self.readerCount, self.revision) = (readers, readerCount, revision)
    }
}

extension RecorderState {
    /// Counts a message, and decides whether it is kept.
    ///
    /// The route is empty if no pattern matched. The time is in seconds since the console was created.
    /// `hasEnded` tells whether the message is a dead letter that was never delivered.
    mutating func begin(
        _ id: CorrelationID,
        to url: String,
        _ route: String,
        cause: CorrelationID?,
        at time: Double,
        hasEnded: Bool = false
    ) -> Begun {
        if !hasEnded, self.inFlight.count < Self.inFlightLimit { self.inFlight.insert(id) }
        var readers: UInt32 = 0
        for index in self.readers.indices where self.readers[index]?.matches(url) == true {
            self.readers[index]?.counted += 1
            readers |= 1 << UInt32(index)
        }
        return Begun(
            decision: self.decide(route, cause, at: time),
            readers: readers,
            readerCount: self.readerCount
        )
    }

    private mutating func decide(_ route: String, _ cause: CorrelationID?, at time: Double) -> Decision {
        if let cause, let place = self.places[cause] {
            guard let flow = self.flows[place.flow], flow.events.count < self.limits.eventsPerFlow,
                self.followers.take(at: time)
            else {
                self.flows[place.flow]?.dropped += 1
                return .count
            }
            return .join(place.flow)
        }
        // This single access changes the record in place. Separate reading and writing would copy the queue
        // of flows.
        let new = self.newRoute(at: time)
        let isWithinQuota = self.routes[route, default: new].quota.take(at: time)
        return isWithinQuota || self.spare.take(at: time) ? .begin : .count
    }

    private func newRoute(at time: Double) -> RouteRecord {
        RouteRecord(quota: TokenBucket(rate: self.limits.flowsPerRoute, at: time))
    }

    /// Keeps a message according to the decision of ``begin(_:to:_:cause:at:hasEnded:)``.
    ///
    /// If readers were added since the decision, their patterns are matched with the shown URL, in which
    /// values of hidden names are replaced. The decision contains the result for all other readers.
    mutating func keep(_ message: RecordedMessage, _ begun: Begun) {
        var flow: Int
        switch begun.decision {
        case .count: return
        case .begin:
            self.lastFlow += 1
            flow = self.lastFlow
            let route = message.pattern ?? ""
            let new = RecordedFlow(number: flow, route: route)
            self.flows[flow] = new
            self.size += new.size
            let newRoute = self.newRoute(at: message.time)
            self.routes[route, default: newRoute].flows.append(flow)
            self.routes[route]?.size += new.size
        case .join(let number):
            // The flow has possibly been removed since the decision.
            guard self.flows[number] != nil else { return }
            flow = number
        }
        var message = message
        for (index, reader) in self.readers.enumerated() {
            guard let reader else { continue }
            let bit = 1 << UInt32(index) as UInt32
            if reader.number < begun.readerCount {
                message.readers |= begun.readers & bit
            } else if reader.matches(message.url) {
                message.readers |= bit
                self.readers[index]?.counted += 1
            }
        }
        let place = Place(flow: flow, message: self.flows[flow]?.messages.count ?? 0)
        self.places[message.id] = place
        self.flows[flow]?.messages.append(message)
        self.grow(flow, by: message.size)
        self.add(.message, place: place, time: message.time, text: message.value ?? "", duration: nil)
        self.touch(place)
        self.evict()
    }

    /// Counts a progress reply or an answer of a kept message, and returns whether its flow has room for the
    /// event.
    ///
    /// An event without room does not change the message for the readers. Otherwise, a message with very many
    /// progress replies would displace the changes of other messages.
    mutating func admit(_ kind: FlowEvent.Kind, of id: CorrelationID) -> Bool {
        guard let place = self.places[id] else { return false }
        if kind == .progress { self.flows[place.flow]?.messages[place.message].progress += 1 }
        let hasRoom = (self.flows[place.flow]?.events.count ?? 0) < self.limits.eventsPerFlow
        if !hasRoom { self.flows[place.flow]?.dropped += 1 }
        return hasRoom
    }

    /// Adds an event that was counted to a message, if the message is kept.
    mutating func note(_ kind: FlowEvent.Kind, of id: CorrelationID, at time: Double, _ text: String) {
        guard let place = self.places[id] else { return }
        self.add(kind, place: place, time: time, text: text, duration: nil)
        self.touch(place)
        self.evict()
    }

    /// Counts the outcome of a message, and returns whether the message is kept.
    mutating func end(_ id: CorrelationID, _ route: String, after duration: Duration, hasFailed: Bool) -> Bool
    {
        self.inFlight.remove(id)
        if hasFailed { self.noteFailure(id) }
        self.latency.add(duration)
        let new = self.newRoute(at: 0)
        self.routes[route, default: new].latency.add(duration)
        return self.places[id] != nil
    }

    private mutating func noteFailure(_ id: CorrelationID) {
        guard self.failed.insert(id).inserted else { return }
        self.failures.append(id)
        if self.failures.count > Self.failureLimit { self.failed.remove(self.failures.removeFirst()) }
    }

    /// Returns whether the message of a dead letter has already been counted.
    ///
    /// If the message has not been counted, the method records it as failed.
    mutating func isCounted(_ id: CorrelationID) -> Bool {
        if self.inFlight.contains(id) || self.failed.contains(id) { return true }
        self.noteFailure(id)
        return false
    }

    /// Adds the outcome of a message, if the message is kept.
    mutating func end(
        _ id: CorrelationID,
        at time: Double,
        after duration: Int?,
        reply: String?,
        failure: ShownFailure?
    ) {
        guard let place = self.places[id] else { return }
        self.flows[place.flow]?.messages[place.message].isReplied = failure == nil
        self.flows[place.flow]?.messages[place.message].duration = duration
        self.flows[place.flow]?.messages[place.message].reply = reply
        self.flows[place.flow]?.messages[place.message].failure = failure
        let text = failure.map { "\($0.code): \($0.message)" } ?? reply ?? ""
        self.grow(place.flow, by: text.utf8.count)
        // The last event of a message is kept even if the flow has reached its maximum number of events.
        self.add(
            failure == nil ? .reply : .failure,
            place: place,
            time: time,
            text: text,
            duration: duration,
            isLast: true
        )
        self.touch(place)
        self.evict()
    }

    private mutating func add(
        _ kind: FlowEvent.Kind,
        place: Place,
        time: Double,
        text: String,
        duration: Int?,
        isLast: Bool = false
    ) {
        guard isLast || (self.flows[place.flow]?.events.count ?? 0) < self.limits.eventsPerFlow else {
            self.flows[place.flow]?.dropped += 1
            return
        }
        let event = FlowEvent(kind: kind, message: place.message, time: time, text: text, duration: duration)
        self.flows[place.flow]?.events.append(event)
        self.grow(place.flow, by: event.size)
    }

    private mutating func grow(_ number: Int, by size: Int) {
        guard let route = self.flows[number]?.route else { return }
        self.flows[number]?.size += size
        self.routes[route]?.size += size
        self.size += size
    }

    /// Removes the oldest flows of the routes whose flows occupy the most bytes, until all flows fit the
    /// limit.
    private mutating func evict() {
        while self.size > self.limits.bytes,
            let route = self.routes.max(by: { $0.value.size < $1.value.size })?.key,
            let number = self.routes[route]?.flows.popFirst()
        {
            guard let flow = self.flows.removeValue(forKey: number) else { continue }
            for message in flow.messages { self.places[message.id] = nil }
            self.routes[route]?.size -= flow.size
            self.size -= flow.size
        }
    }

    /// Records that a message has changed.
    private mutating func touch(_ place: Place) {
        guard let id = self.flows[place.flow]?.messages[place.message].id else { return }
        self.revision += 1
        self.flows[place.flow]?.messages[place.message].revision = self.revision
        self.changes.append(id)
        if self.changes.count > Self.changeLimit { self.changes.removeFirst() }
    }
}

// Readers: the open pages that receive messages.
extension RecorderState {
    /// Adds a reader, and returns its index, or nil if the limit is reached.
    ///
    /// The reader receives the kept messages whose shown URL matches the pattern.
    mutating func addReader(_ scope: RouteTable<Void>?) -> Int? {
        let reader = Reader(scope: scope, number: self.readerCount)
        let index: Int
        if let free = self.readers.firstIndex(where: { $0 == nil }) {
            index = free
            self.readers[free] = reader
        } else {
            guard self.readers.count < Self.readerLimit else { return nil }
            index = self.readers.count
            self.readers.append(reader)
        }
        self.readerCount += 1
        let bit = 1 << UInt32(index) as UInt32
        for number in Array(self.flows.keys) {
            // A flow that is taken out of the dictionary can be changed without a copy of its messages.
            guard var flow = self.flows.removeValue(forKey: number) else { continue }
            for place in flow.messages.indices {
                let isShown = reader.matches(flow.messages[place].url)
                flow.messages[place].readers &= ~bit
                flow.messages[place].shownTo &= ~bit
                guard isShown else { continue }
                flow.messages[place].readers |= bit
                self.readers[index]?.counted += 1
            }
            self.flows[number] = flow
        }
        return index
    }

    mutating func removeReader(_ index: Int) { self.readers[index] = nil }

    /// The messages that have changed since the reader's last call.
    struct Changes: Sendable {
        /// The messages, in the order of their last changes.
        var messages: [RecordedMessage] = []
        var counted = 0
        var shown = 0
    }

    /// Returns whether a message has changed since the reader's last call.
    func hasChanges(for index: Int) -> Bool {
        self.readers[index].map { $0.revision < self.revision } ?? false
    }

    /// Returns the messages that have changed since the reader's last call.
    ///
    /// The result contains the newest messages that the reader has not received yet, at most `limit`. A
    /// message that the reader has received is always included, because the reader shows its state, unless it
    /// was removed or more than `changeLimit` other changes have followed.
    mutating func changes(for index: Int, limit: Int) -> Changes {
        guard let reader = self.readers[index] else { return Changes() }
        var changes = Changes()
        let bit = 1 << UInt32(index) as UInt32
        var (revision, remaining) = (self.revision, limit)
        for id in self.changes.reversed() {
            defer { revision -= 1 }
            guard revision > reader.revision else { break }
            guard let place = self.places[id], let message = self.flows[place.flow]?.messages[place.message],
                message.revision == revision, message.readers & bit != 0
            else { continue }
            if message.shownTo & bit == 0 {
                guard remaining > 0 else { continue }
                remaining -= 1
                self.flows[place.flow]?.messages[place.message].shownTo |= bit
                self.readers[index]?.shown += 1
            }
            changes.messages.append(message)
        }
        changes.messages.reverse()
        self.readers[index]?.revision = self.revision
        changes.counted = self.readers[index]?.counted ?? 0
        changes.shown = self.readers[index]?.shown ?? 0
        return changes
    }

    /// Returns the flow of a message; nil if the message is not kept.
    func flow(of id: CorrelationID) -> RecordedFlow? { self.places[id].flatMap { self.flows[$0.flow] } }

    /// Removes the latencies of routes that no longer exist and have no kept messages.
    ///
    /// The empty route, of messages that no pattern matched, always exists.
    mutating func removeRoutes(except patterns: Set<String>) {
        self.routes = self.routes.filter { pattern, record in
            pattern.isEmpty || !record.flows.isEmpty || patterns.contains(pattern)
        }
    }

    /// The latencies of the messages of each route.
    var latencies: [String: LatencyHistogram] { self.routes.mapValues(\.latency) }

    /// The number of messages that are kept.
    var count: Int { self.places.count }
}

extension RecorderState.Reader {
    func matches(_ url: String) -> Bool { self.scope?.canRoute(url) ?? true }
}
#endif
