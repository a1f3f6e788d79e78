internal import Synchronization
internal import WaybillEventLoop

/// A value that ``Versioned`` can hold: its copies share memory until one of them is changed.
protocol VersionedValue: Sendable {
    associatedtype Table: Sendable

    /// The part of the value that a loop reads for each message.
    var table: Table { get }

    /// The number of entries, to which the cost of a change after a copy is proportional.
    var count: Int { get }
}

/// A value that any thread may change, and that loops read without a lock.
///
/// The value is behind a lock. A loop reads an immutable copy of the value, a ``Snapshot``, and compares
/// ``generation`` to detect that a newer copy exists. The first change after a snapshot copies the value. A
/// program that alternates changes and reads would copy a large value each time. After a change, the value is
/// therefore read under the lock until the number of reads justifies a copy.
final class Versioned<Value: VersionedValue>: Sendable {
    /// A number that increases with every change.
    let generation = Atomic<Int>(0)
    private let state: Locked<State>

    /// A value is copied when its reads, times this number, exceed its number of entries.
    private static var entriesPerRead: Int { 256 }

    private struct State {
        var value: Value
        var snapshot: Snapshot<Value>?
        var reads = 0
    }

    init(_ value: Value) { self.state = Locked(State(value: value)) }

    /// Changes the value, so that readers see either the whole change or no change.
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try self.state.withLock { state throws(Failure) in
            state.snapshot = nil
            state.reads = 0
            defer { self.generation.add(1, ordering: .releasing) }
            return try body(&state.value)
        }
    }

    /// Changes a part of the value that is small, so that loops need not read under the lock afterwards.
    func changeSmallPart<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        self.state.withLock { state in
            let old = (state.value, state.snapshot)
            let result = body(&state.value)
            let generation = self.generation.add(1, ordering: .releasing).newValue
            if state.snapshot != nil { state.snapshot = Snapshot(state.value, generation: generation) }
            return (result: result, old: old)
        }.result
    }

    /// Reads the current value on any thread, without the lock if a copy is worth its cost.
    func read<Result: Sendable, Failure: Error>(
        _ body: (borrowing Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if let snapshot = self.snapshotIfWorthIt() { return try body(snapshot.value) }
        return try self.readUnderLock(body)
    }

    /// Reads the current value under the lock, and never copies the value.
    func readUnderLock<Result: Sendable, Failure: Error>(
        _ body: (borrowing Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try self.state.withLock { state throws(Failure) in try body(state.value) }
    }

    /// Returns a snapshot of the current value, or nil when the value has changed so recently that a copy
    /// would cost more than a read under the lock.
    fileprivate func snapshotIfWorthIt() -> Snapshot<Value>? {
        self.state.withLock { state in
            if let snapshot = state.snapshot { return snapshot }
            state.reads += 1
            guard state.reads * Self.entriesPerRead > state.value.count else { return nil }
            let snapshot = Snapshot(state.value, generation: self.generation.load(ordering: .relaxed))
            state.snapshot = snapshot
            return snapshot
        }
    }
}

/// A versioned value at one moment.
final class Snapshot<Value: VersionedValue>: Sendable {
    let generation: Int
    /// The table of ``value``, stored because a read through ``value`` would retain it for each message.
    let table: Value.Table
    let value: Value

    init(_ value: Value, generation: Int = 0) {
        self.generation = generation
        self.table = value.table
        self.value = value
    }
}

/// The latest snapshot of a versioned value that a loop has read, for the loop's thread only.
struct LoopSnapshot<Value: VersionedValue>: ~Copyable {
    private let source: Versioned<Value>
    private let latest: LoopLocal<Snapshot<Value>>
    private let empty: Snapshot<Value>

    /// Creates a cache that holds a snapshot without entries at first.
    init(of source: Versioned<Value>, empty: Snapshot<Value>, on eventLoop: EventLoop) {
        self.source = source
        self.latest = LoopLocal(empty, on: eventLoop)
        self.empty = empty
    }

    /// A snapshot of the current value; nil when a read under the lock costs less than a copy of the value.
    @inline(__always)
    var current: Snapshot<Value>? {
        let latest = self.latest.load()
        let isCurrent = latest.generation == self.source.generation.load(ordering: .acquiring)
        return isCurrent ? latest : self.catchUp()
    }

    /// Stores the current snapshot and returns it.
    ///
    /// A deinitializer in the old snapshot may call ``forget()``, so the stored snapshot is not read again.
    @inline(never)
    private func catchUp() -> Snapshot<Value>? {
        guard let snapshot = self.source.snapshotIfWorthIt() else { return nil }
        self.latest.store(snapshot)
        return snapshot
    }

    /// Releases the snapshot.
    func forget() { self.latest.store(self.empty) }
}
