#if HTTP
import Testing
import Waybill
import WaybillRouting

@testable import WaybillConsole

/// The recorder keeps some messages, and counts all of them.
@Suite
struct RecorderStateTests {
    private func message(
        _ id: UInt64,
        _ route: String,
        at time: Double,
        cause: UInt64? = nil,
        text: String = ""
    ) -> RecordedMessage {
        RecordedMessage(
            id: CorrelationID(rawValue: id),
            time: time,
            url: route,
            pattern: route,
            module: nil,
            origin: "local",
            node: nil,
            cause: cause.map { CorrelationID(rawValue: $0) },
            answers: nil,
            kind: .request,
            value: text,
            parameters: []
        )
    }

    /// Begins and ends a message, and returns whether the recorder keeps it.
    @discardableResult
    private func pass(
        _ id: UInt64,
        _ route: String,
        at time: Double,
        cause: UInt64? = nil,
        text: String = "",
        through state: inout RecorderState
    ) -> Bool {
        let recorded = self.message(id, route, at: time, cause: cause, text: text)
        let begun = state.begin(recorded.id, to: route, route, cause: recorded.cause, at: time)
        state.keep(recorded, begun)
        if state.end(recorded.id, route, after: .milliseconds(1), hasFailed: false) {
            state.end(recorded.id, at: time, after: 1000, reply: "Int", failure: nil)
        }
        return begun.decision.isKept
    }

    @Test
    func `a busy route does not displace the messages of a quiet route`() {
        var limits = RecordingLimits()
        limits.bytes = 1 << 20
        var state = RecorderState(limits, at: 0)
        let reader = state.addReader(nil) ?? -1
        var id: UInt64 = 0
        var quiet: [UInt64] = []
        for step in 0..<20_000 {
            let time = Double(step) / 1000
            for _ in 0..<10 {
                id += 1
                self.pass(
                    id,
                    "app://loud",
                    at: time,
                    text: String(repeating: "x", count: 100),
                    through: &state
                )
            }
            if step % 100 == 0 {
                id += 1
                quiet.append(id)
                #expect(self.pass(id, "app://quiet", at: time, through: &state))
            }
        }
        #expect(quiet.allSatisfy { state.flow(of: CorrelationID(rawValue: $0)) != nil })
        #expect(state.size <= limits.bytes)
        let changes = state.changes(for: reader, limit: 1000)
        #expect(changes.counted == 200_200)
        #expect(changes.shown == changes.messages.count)
    }

    @Test
    func `messages caused by a recorded message are recorded, up to a limit`() {
        var limits = RecordingLimits()
        limits.eventsPerFlow = 20
        var state = RecorderState(limits, at: 0)
        self.pass(1, "app://root", at: 0, through: &state)
        for id in 2...100 as ClosedRange<UInt64> {
            self.pass(id, "app://leaf", at: 0, cause: id - 1 == 1 ? 1 : 2, through: &state)
        }
        let flow = state.flow(of: CorrelationID(rawValue: 2))
        #expect(flow?.messages.first?.id == CorrelationID(rawValue: 1))
        #expect((20...22).contains(flow?.events.count ?? 0))
        #expect((flow?.messages.count ?? 0) + (flow?.dropped ?? 0) == 100)
    }

    @Test
    func `the recorder forgets routes that no longer exist and have no kept messages`() {
        var limits = RecordingLimits()
        (limits.flowsPerRoute, limits.spareFlows) = (1, 0)
        var state = RecorderState(limits, at: 0)
        for (id, route) in ["", "app://a", "app://b"].enumerated() {
            self.pass(UInt64(id), route, at: 0, through: &state)
        }
        // A route that is over its quota from the beginning has latencies, but no kept messages.
        limits.flowsPerRoute = 0
        var empty = RecorderState(limits, at: 0)
        for (id, route) in ["", "app://a", "app://b"].enumerated() {
            self.pass(UInt64(id), route, at: 0, through: &empty)
        }
        state.removeRoutes(except: ["app://a"])
        empty.removeRoutes(except: ["app://a"])
        #expect(Set(state.latencies.keys) == ["", "app://a", "app://b"])
        #expect(Set(empty.latencies.keys) == ["", "app://a"])
    }

    @Test
    func `a route over its quota is not recorded until the quota is refilled`() {
        var limits = RecordingLimits()
        (limits.flowsPerRoute, limits.spareFlows) = (1, 0)
        var state = RecorderState(limits, at: 0)
        #expect(self.pass(1, "app://a", at: 0, through: &state))
        #expect(!self.pass(2, "app://a", at: 0, through: &state))
        #expect(self.pass(3, "app://a", at: 1, through: &state))
    }

    @Test
    func `the console recorder's memory stays within its limit, however large the values are`() {
        var limits = RecordingLimits()
        limits.bytes = 1 << 20
        (limits.flowsPerRoute, limits.followers) = (1e9, 1e9)
        var state = RecorderState(limits, at: 0)
        for id in 1...20_000 as ClosedRange<UInt64> {
            let text = String(repeating: "x", count: Int(id % 2000))
            self.pass(
                id,
                "app://\(id % 7)",
                at: 0,
                cause: id % 3 == 0 ? id - 1 : nil,
                text: text,
                through: &state
            )
            #expect(state.size <= limits.bytes)
        }
        #expect(state.count > 100)
    }

    @Test
    func `a reader of the console's recorder receives the changes since its last request`() throws {
        var state = RecorderState(RecordingLimits(), at: 0)
        self.pass(1, "app://a/1", at: 0, through: &state)
        var table = RouteTable<Void>()
        try table.insert("app://a/**", ())
        let one = state.addReader(table) ?? -1
        let all = state.addReader(nil) ?? -1
        self.pass(2, "app://b/2", at: 0, through: &state)
        #expect(state.changes(for: one, limit: 10).messages.map(\.id.rawValue) == [1])
        #expect(state.changes(for: all, limit: 10).messages.map(\.id.rawValue) == [1, 2])
        #expect(!state.hasChanges(for: one) && state.changes(for: one, limit: 10).messages.isEmpty)
        for id in 3...20 as ClosedRange<UInt64> { self.pass(id, "app://a/\(id)", at: 0, through: &state) }
        let changes = state.changes(for: one, limit: 10)
        #expect(changes.messages.map(\.id.rawValue) == Array(11...20))
        #expect(changes.counted == 19 && changes.shown == 11)
        state.removeReader(one)
        #expect(state.addReader(nil) == one)
        // A page may be opened while the recorder describes a message, between these two calls.
        let late = self.message(21, "app://a/21", at: 0)
        let begun = state.begin(late.id, to: late.url, late.url, cause: nil, at: 0)
        let newest = state.addReader(table) ?? -1
        state.keep(late, begun)
        #expect(state.changes(for: newest, limit: 1).messages.map(\.id.rawValue) == [21])
        state.removeReader(newest)
        #expect(state.changes(for: one, limit: 100).counted == 21)
    }

    @Test
    func `a page receives the outcome of a message that it shows, however many messages are new`() {
        var state = RecorderState(RecordingLimits(), at: 0)
        let reader = state.addReader(nil) ?? -1
        let slow = self.message(1, "app://slow", at: 0)
        state.keep(slow, state.begin(slow.id, to: slow.url, slow.url, cause: nil, at: 0))
        #expect(state.changes(for: reader, limit: 10).messages.map(\.state) == ["waiting"])
        state.end(slow.id, at: 0, after: 1000, reply: "Int", failure: nil)
        for id in 2...50 as ClosedRange<UInt64> { self.pass(id, "app://a", at: 0, through: &state) }
        let changes = state.changes(for: reader, limit: 10)
        #expect(changes.messages.map(\.id.rawValue) == [1] + Array(41...50))
        #expect(changes.messages.first?.state == "replied")
        #expect(changes.counted == 50 && changes.shown == 11)
    }

    @Test
    func `progress replies beyond the events of a flow are counted, and do not change the message`() {
        var limits = RecordingLimits()
        limits.eventsPerFlow = 3
        var state = RecorderState(limits, at: 0)
        let reader = state.addReader(nil) ?? -1
        let message = self.message(1, "app://a", at: 0)
        state.keep(message, state.begin(message.id, to: message.url, message.url, cause: nil, at: 0))
        for _ in 0..<2 {
            let hasRoom = state.admit(.progress, of: message.id)
            #expect(hasRoom)
            state.note(.progress, of: message.id, at: 0, "Int")
        }
        #expect(state.changes(for: reader, limit: 10).messages.map(\.progress) == [2])
        for _ in 0..<5 {
            let hasRoom = state.admit(.progress, of: message.id)
            #expect(!hasRoom)
        }
        #expect(!state.hasChanges(for: reader))
        state.end(message.id, at: 0, after: 1000, reply: "Int", failure: nil)
        #expect(state.changes(for: reader, limit: 10).messages.map(\.progress) == [7])
        #expect(state.flow(of: message.id)?.events.count == 4 && state.flow(of: message.id)?.dropped == 5)
    }

    @Test
    func `the pattern of a page selects messages by the URLs that their senders wrote`() throws {
        var state = RecorderState(RecordingLimits(), at: 0)
        var table = RouteTable<Void>()
        try table.insert("app://vault/<int:token>", ())
        let reader = state.addReader(table) ?? -1
        // The recorder replaces the value of a hidden name in the URL that it keeps.
        let message = self.message(1, "app://vault/…", at: 0)
        state.keep(message, state.begin(message.id, to: "app://vault/7", "app://vault", cause: nil, at: 0))
        let changes = state.changes(for: reader, limit: 10)
        #expect(changes.messages.map(\.id.rawValue) == [1] && changes.counted == 1)
    }
}
#endif
