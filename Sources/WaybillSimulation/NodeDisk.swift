#if Durable
internal import CFaultyDisk
internal import WaybillDurable
internal import WaybillEventLoop

/// The disk of a node, on which its durable stores keep their files while the node crashes and starts again.
///
/// The disk is created when the start code opens a store.
///
/// The compiler cannot check `Sendable` here. The proof is the one of ``Simulator``: only the thread of the
/// simulation calls the methods.
final class NodeDisk: @unchecked Sendable {
    private let simulator: Simulator
    /// Adds a loop to the node, and returns its number.
    private let addLoop: () -> Int
    private let onPowerLoss: () -> Void
    private var disk: FaultyDisk?
    /// Whether writes that were not synchronized are lost when the disk is turned on.
    private var losesWrites = false
    private var isOn = true
    /// Whether the power fails at a later operation.
    private(set) var willLosePower = false

    init(
        _ simulator: Simulator,
        addLoop: @escaping () -> Int,
        onPowerLoss: @escaping () -> Void
    ) {
        self.simulator = simulator
        self.addLoop = addLoop
        self.onPowerLoss = onPowerLoss
    }

    /// Whether the disk works.
    var hasPower: Bool { self.disk?.hasPower ?? true }

    /// Runs code whose stores are on this disk, and on loops of the node.
    nonisolated(nonsending) func holdingStores<Result>(
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        try await StoreHost.$makePlace.withValue({ self.makePlace() }, operation: body)
    }

    private func makePlace() -> StoreHost.Place {
        let loop = self.addLoop()
        let (simulator, disk) = (self.simulator, self.disk ?? self.makeDisk())
        return (simulator.eventLoop(loop), disk.name, { simulator.atEnd(ofLoop: loop, $0) })
    }

    private func makeDisk() -> FaultyDisk {
        let disk = FaultyDisk(seed: .random(in: 0 ... .max))
        self.disk = disk
        self.simulator.observeWork { [weak self] in
            guard let self, self.isOn, !disk.hasPower else { return }
            self.onPowerLoss()
        }
        return disk
    }

    /// Whether the node has opened a store.
    var isUsed: Bool { self.disk != nil }

    /// Cuts the power at an operation on the disk.
    func cutPower(afterOperations count: Int) {
        self.willLosePower = true
        self.disk?.cutPower(afterOperations: count)
    }

    func turnOff(losingPower: Bool) {
        (self.isOn, self.willLosePower) = (false, false)
        self.losesWrites = losingPower
        self.disk?.turnOff()
    }

    func turnOn() {
        guard !self.isOn else { return }
        self.isOn = true
        if self.losesWrites { self.disk?.restorePower() } else { self.disk?.turnOn() }
    }

    /// Deletes the files at the end of the run.
    func destroy() { self.disk = nil }
}

/// A disk in memory, as a file system of SQLite, that can lose power and report failures.
///
/// The disk keeps what was synchronized. When the power is cut, each write since the last synchronization of
/// its file is kept, dropped, or torn.
@safe
package final class FaultyDisk: @unchecked Sendable {
    private let disk: OpaquePointer

    /// Creates an empty disk.
    ///
    /// - Parameter seed: Determines what happens to writes that were not synchronized.
    package init(seed: UInt64) {
        guard let disk = unsafe faulty_disk_create(seed) else {
            preconditionFailure("SQLite refuses the file system of a simulation")
        }
        unsafe self.disk = disk
    }

    deinit { unsafe faulty_disk_destroy(self.disk) }

    /// The name of the file system.
    package var name: String { unsafe String(cString: faulty_disk_name(self.disk)) }

    /// Whether the disk has power; without power, each operation fails.
    package var hasPower: Bool { unsafe faulty_disk_has_power(self.disk) != 0 }

    /// Cuts the power before the operation with a number from now, counted from 1.
    package func cutPower(afterOperations count: Int) {
        unsafe faulty_disk_cut_power_after(self.disk, CInt(count))
    }

    /// Restores the power, with the files as the disk has kept them.
    package func restorePower() { unsafe faulty_disk_restore_power(self.disk) }

    /// Makes each operation fail until the disk is turned on.
    ///
    /// The files that are open now fail for ever, as if their process had ended.
    package func turnOff() { unsafe faulty_disk_turn_off(self.disk) }

    /// Turns the disk on again, with all writes, as the system keeps them when a process ends.
    package func turnOn() { unsafe faulty_disk_turn_on(self.disk) }

    /// Deletes all files, and sets the seed of the random numbers.
    package func reset(seed: UInt64) { unsafe faulty_disk_reset(self.disk, seed) }

    /// Limits the bytes of all files; 0 for no limit.
    package func limit(to bytes: Int64) { unsafe faulty_disk_limit(self.disk, bytes) }

    /// Makes each synchronization fail or succeed.
    package func failSynchronizations(_ fails: Bool) {
        unsafe faulty_disk_fail_synchronizations(self.disk, fails ? 1 : 0)
    }

    /// Overwrites bytes of a file, beyond the knowledge of SQLite.
    ///
    /// - Returns: Whether the file exists.
    package func overwrite(_ file: String, from offset: Int, count: Int) -> Bool {
        unsafe faulty_disk_overwrite(self.disk, file, Int64(offset), Int64(count)) != 0
    }
}
#else
/// The disk of a node, which is not used without the trait `Durable`.
final class NodeDisk: @unchecked Sendable {
    init(_ simulator: Simulator, addLoop: @escaping () -> Int, onPowerLoss: @escaping () -> Void) {}

    var hasPower: Bool { true }

    nonisolated(nonsending) func holdingStores<Result>(
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result { try await body() }

    var isUsed: Bool { false }

    var willLosePower: Bool { false }

    func cutPower(afterOperations count: Int) {}

    func turnOff(losingPower: Bool) {}

    func turnOn() {}

    func destroy() {}
}
#endif
