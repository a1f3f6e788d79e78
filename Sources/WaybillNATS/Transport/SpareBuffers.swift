internal import WaybillEventLoop

/// Memory of messages that are gone, for those that come next.
///
/// A stream of messages is made on one thread and let go on another, which gives their pages back to the
/// system each time that it has caught up; to get them again takes longer than to copy the messages. Two
/// megabytes are kept at most.
final class SpareBuffers: Sendable {
    private let buffers = Locked<[[UInt8]]>([])

    private static let countLimit = 32
    /// What is smaller costs little, and what is larger is rare.
    private static let sizes = 1 << 12..<1 << 16

    /// An empty buffer that has room for some bytes.
    func take(_ size: Int) -> [UInt8] {
        var buffer = Self.sizes.contains(size) ? self.buffers.withLock { $0.popLast() } ?? [] : []
        // One that is still in use elsewhere is not touched.
        buffer.removeAll(keepingCapacity: true)
        buffer.reserveCapacity(size)
        return buffer
    }

    /// Keeps a buffer, unless there are enough.
    func give(_ buffer: [UInt8]) {
        guard Self.sizes.contains(buffer.capacity) else { return }
        self.buffers.withLock { if $0.count < Self.countLimit { $0.append(buffer) } }
    }
}
