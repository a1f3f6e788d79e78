import CMeasure
import Foundation
import Measure
import Subjects
import Synchronization
import Waybill
import WaybillDurable
import WaybillEventLoop

extension Figures {
    /// The cost of messages that survive the process.
    static func durable() throws -> [Figure] {
        let folder = try StoreFolder()
        // A commit of one small message writes two pages to the log, each behind a header of 24 bytes.
        let synchronizedWrites = Subject("fdatasync after as many bytes", iterations: 200) { count in
            try succeeded(unsafe measure_synchronize(folder.path("plain"), 2 * 4_120, CInt(count)))
        }
        return [
            Figure(
                "durable.send",
                must: .ratio(1.5),
                goal: .ratio(1.2),
                subject: Self.durableSends(in: folder),
                peer: synchronizedWrites
            ),
            Figure(
                "durable.send-from-task",
                must: .ratio(2.5),
                subject: Subject("send, one at a time, from a task without a loop", iterations: 200) {
                    count in
                    try await withStore(at: folder.path("send.db")) { store, _ in
                        try await sendOneByOne(count, by: store)
                    }
                },
                peer: synchronizedWrites
            ),
            Figure(
                "durable.handle-256",
                must: .value(16_667),
                goal: .value(10_000),
                subject: Self.durableHandling(in: folder),
                peer: Subject("SQLite in C, 256 in each commit", iterations: 30_000) { count in
                    try succeeded(unsafe measure_sqlite(folder.path("peer.db"), CInt(count), 256))
                }
            ),
            Figure("durable.delay-p99", unit: .milliseconds, must: .value(5), goal: .value(1)) {
                try await withStore(at: folder.path("delay.db")) { store, bus in
                    try await lateness(of: 10_000, in: store, on: bus)
                }
            },
            Figure("durable.open-1m", unit: .milliseconds, must: .value(300), goal: .value(100)) {
                try await folder.fill()
                let bus = MessageBus(eventLoop: .quiet("durable"))
                let (began, begin) = AsyncStream.makeStream(of: Void.self)
                try bus.register("app://first") { _ in begin.yield() }
                let start = MonotonicTime.now
                let store = try await DurableStore(folder.path("million.db"), configuration: .quiet)
                try await bus.attach(store)
                for await _ in began { break }
                let time = MonotonicTime.now - start
                await store.close()
                await bus.shutDown()
                return Double(time) / 1e6
            },
            Figure("durable.memory-1m", unit: .megabytes, must: .value(64), goal: .value(32)) {
                try await folder.fill()
                let before = measure_heap_in_use()
                let bus = MessageBus(eventLoop: .quiet("durable"))
                let store = try await DurableStore(folder.path("million.db"), configuration: .quiet)
                try await bus.attach(store)
                try await store.send("app://later")
                let size = Double(measure_heap_in_use()) - Double(before)
                await store.close()
                await bus.shutDown()
                return max(0, size) / 1e6
            },
            Figure(
                "durable.checkpoint-stall",
                unit: .milliseconds,
                must: .value(20),
                rounds: 5
            ) {
                try await longestStall(of: 5_000, in: folder)
            },
        ]
    }

    /// The figures of a store beside a server that keeps messages on disk.
    ///
    /// - Parameter kind: The kind of server.
    /// - Returns: No figures if the server is not installed.
    /// - Throws: An error if a folder cannot be created.
    static func durable(besides kind: QueueServer.Kind) throws -> [Figure] {
        let folder = try StoreFolder()
        guard let server = try QueueServer(kind, in: folder) else {
            let names = kind.figures.joined(separator: ", ")
            FileHandle.standardError.write(Data("\(names): skipped, because \(kind.requirement)\n".utf8))
            return []
        }
        let handling = Self.durableHandling(in: folder)
        var figures = [
            Figure("durable.send-\(kind)", subject: Self.durableSends(in: folder), peer: server.sends),
            Figure("durable.handle-256-\(kind)", goal: .ratio(1), subject: handling, peer: server.handling),
        ]
        if kind == .postgres {
            let (name, peer) = ("durable.handle-256-postgres-batch", server.batchHandling)
            figures.append(Figure(name, goal: .ratio(1), subject: handling, peer: peer))
        }
        return figures
    }

    private static func durableSends(in folder: StoreFolder) -> Subject {
        // The caller's loop spins while it waits, since a commit takes less time on a fast disk than a
        // sleeping thread needs to wake up on some machines.
        Subject("send, one at a time", iterations: 200) { count in
            let loop = EventLoop.quiet("durable-caller", idlePolicy: .spin(for: .milliseconds(1)))
            let caller = Caller(eventLoop: loop)
            return try await withStore(at: folder.path("send.db")) { store, _ in
                try await caller.run { try await sendOneByOne(count, by: store) }
            }
        }
    }

    private static func durableHandling(in folder: StoreFolder) -> Subject {
        Subject("sent, handled and completed, 256 in flight", iterations: 30_000) { count in
            try await withStore(at: folder.path("handle.db")) { store, bus in
                try await handle(count, by: store, on: bus)
            }
        }
    }
}

/// Runs a closure with a new store and its bus.
private func withStore<Value>(
    at path: String,
    _ body: (DurableStore, MessageBus) async throws -> Value
) async throws -> Value {
    StoreFolder.remove(path)
    let bus = MessageBus(eventLoop: .quiet("durable"))
    try bus.register("app://later") { _ in }
    let store = try await DurableStore(path, configuration: .quiet)
    try await bus.attach(store)
    let value = try await body(store, bus)
    await store.close(drainingFor: .zero)
    await bus.shutDown()
    return value
}

/// Sends messages one after the other, and returns the time until the last one is on disk.
private nonisolated(nonsending) func sendOneByOne(
    _ count: Int,
    by store: DurableStore
) async throws -> UInt64 {
    // A store that has run for a while overwrites the pages of a copied log.
    let text = String(repeating: "x", count: 3_000_000)
    for _ in 0..<2 {
        try await store.send("app://later", parameters: ["text": text], after: .seconds(86_400))
    }
    // After the large messages, the store copies its log, and this send waits for the copy.
    try await store.send("app://later", after: .seconds(86_400))
    let start = MonotonicTime.now
    for _ in 0..<count { try await store.send("app://later", after: .seconds(86_400)) }
    return MonotonicTime.now - start
}

/// Sends messages with 256 in flight, and returns the time until all of them have been handled.
private func handle(_ count: Int, by store: DurableStore, on bus: MessageBus) async throws -> UInt64 {
    let text = String(repeating: "x", count: 180)
    let handled = Handled()
    try store.setPolicy(DurablePolicy(concurrency: 256), for: "app://work/**")
    try bus.register("app://work/:n") { handled.add(try $0.parameters.require("n")) }
    let start = MonotonicTime.now
    try await withThrowingTaskGroup(of: Void.self) { group in
        for first in 0..<256 {
            group.addTask {
                for number in stride(from: first, to: count, by: 256) {
                    async let sent = store.send("app://work/\(number)?text=\(text)")
                    await handled.wait(for: number)
                    _ = try await sent
                }
            }
        }
        try await group.waitForAll()
    }
    while try await store.statistics().waiting > 0 {}
    return MonotonicTime.now - start
}

/// The number of handled messages, and the tasks that wait for more.
private final class Handled: Sendable {
    private enum Entry {
        case handled
        case awaited(CheckedContinuation<Void, Never>)
    }

    private let entries = Mutex<[Int: Entry]>([:])

    func add(_ number: Int) {
        let waiter = self.entries.withLock { entries -> CheckedContinuation<Void, Never>? in
            if case .awaited(let waiter)? = entries.removeValue(forKey: number) { return waiter }
            entries[number] = .handled
            return nil
        }
        waiter?.resume()
    }

    func wait(for number: Int) async {
        await withCheckedContinuation { continuation in
            let isHandled = self.entries.withLock { entries in
                if entries.removeValue(forKey: number) != nil { return true }
                entries[number] = .awaited(continuation)
                return false
            }
            if isHandled { continuation.resume() }
        }
    }
}

/// Returns the delay in milliseconds that 99 of 100 delayed messages do not exceed.
private func lateness(of count: Int, in store: DurableStore, on bus: MessageBus) async throws -> Double {
    let times = Mutex<[Double]>([])
    try bus.register("app://at/:time") { message in
        let due = try message.parameters.require("time", as: Double.self)
        times.withLock { $0.append(Date().timeIntervalSince1970 * 1_000 - due) }
    }
    // The messages are due one after the other, within two seconds.
    let first = Date().timeIntervalSince1970 * 1_000 + 3_000
    try await store.transaction { transaction in
        let now = Date().timeIntervalSince1970 * 1_000
        for index in 0..<count {
            let due = first + Double(index) * 2_000 / Double(count)
            try transaction.send("app://at/\(due)", after: .milliseconds(due - now))
        }
    }
    while times.withLock({ $0.count }) < count { try await Task.sleep(for: .milliseconds(20)) }
    return times.withLock { $0.sorted()[count * 99 / 100] }
}

/// Returns by how many milliseconds the longest of some sends exceeds the longest synchronization of the disk.
///
/// The store has 200,000 waiting messages. The keys and the orders of the messages are random. Each message
/// therefore changes pages at random places of the file, and a checkpoint has to write nearly as many pages as
/// the write-ahead log has. After each send, as many bytes are written into another file, which shows how long
/// the disk itself delays a send.
private func longestStall(of count: Int, in folder: StoreFolder) async throws -> Double {
    let store = try await DurableStore(folder.path("keys.db"), configuration: .quiet)
    let text = String(repeating: "x", count: 180)
    if try await store.messages(limit: 1).isEmpty {
        for _ in 0..<100 {
            try await store.transaction { transaction in
                for _ in 0..<2_000 {
                    let key = UUID().uuidString
                    try transaction.send("app://later", key: key, after: .seconds(86_400), order: key)
                }
            }
        }
    }
    // The log of the large transactions is copied before the first send.
    try await store.send("app://later", after: .seconds(86_400))
    _ = try await store.statistics()
    var (longest, longestWrite): (UInt64, UInt64) = (0, 0)
    for _ in 0..<count {
        let start = MonotonicTime.now
        let key = UUID().uuidString
        try await store.send("app://later?text=\(text)", key: key, after: .seconds(86_400), order: key)
        longest = max(longest, MonotonicTime.now - start)
        // A commit of such a message writes about six pages.
        let write = try succeeded(unsafe measure_synchronize(folder.path("plain"), 6 * 4_120, 1))
        longestWrite = max(longestWrite, write)
    }
    await store.close()
    return (Double(longest) - Double(longestWrite)) / 1e6
}

private func succeeded(_ time: UInt64) throws -> UInt64 {
    guard time > 0 else { throw CocoaError(.fileWriteUnknown) }
    return time
}
