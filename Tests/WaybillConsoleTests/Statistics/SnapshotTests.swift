#if HTTP
import NIOCore
import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@testable import WaybillConsole
@testable import WaybillHTTP

@Suite(.timeLimit(.minutes(1)))
struct SnapshotTests {
    private let bus = MessageBus(configuration: .quiet)

    @Test
    func `no snapshot is queued for a page that does not read`() async throws {
        try self.bus.register("app://a/:n") { _ in 1 }
        let core = WaybillConsole(self.bus, configuration: .quiet()).core
        core.watch.begin()
        defer { core.watch.end() }
        let reader = try #require(core.recorder.state.withLock { $0.addReader(nil) })
        let stream = SnapshotStream(
            recorder: core.recorder,
            board: core.board,
            letters: core.letters,
            reader: reader,
            rows: 1000,
            interval: .milliseconds(1)
        )
        let sink = EventSink()
        let task = Task { await stream.run(sink) }
        var items = sink.items.makeAsyncIterator()
        let first = try #require(await items.next(isolation: #isolation))
        // The page has not read the first snapshot, so no second one is created while messages pass.
        for number in 0..<300 {
            _ = try await self.bus.route("app://a/\(number)", as: Int.self)
            if number % 100 == 0 { try await Task.sleep(for: .milliseconds(20)) }
        }
        EventSink.acknowledge(first)
        var log = SnapshotLog()
        log.add(first.bytes.map { String(buffer: $0) }.joined())
        #expect(log.number("counted") == 0)
        let second = try #require(await items.next(isolation: #isolation))
        log.add(second.bytes.map { String(buffer: $0) }.joined())
        #expect(log.number("counted") == 300 && log.count == 2)
        #expect(log.rows.count == log.number("shown"))
        EventSink.acknowledge(second)
        task.cancel()
        sink.finish()
        // The sender of a snapshot that is not read would wait forever, so the remaining snapshots are dropped.
        while await items.next(isolation: #isolation) != nil {}
        await task.value
    }
}
#endif
