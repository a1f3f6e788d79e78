internal import WaybillEventLoop

/// A bounded queue between two threads, whose consumer is woken up once for many elements.
///
/// The limits apply to the elements in the queue. The consumer takes all elements at once, and still has most
/// of them while the queue fills again. Twice the limits can therefore be in memory.
final class MessageRing<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var bytes = 0
        var isScheduled = false
        var isClosed = false
    }

    private let state = Locked(State())
    private let countLimit: Int
    private let byteLimit: Int

    init(countLimit: Int, byteLimit: Int) {
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    /// The part of the queue's limits that an element may use.
    enum Room {
        /// Half of the limits, for messages that may be dropped; the other half is left for awaited messages.
        case half
        case whole
        /// Four times the limits, for small messages that end the waiting of a task.
        case fourfold
        /// No limit, for commands and events that the queue's users need for their own operation.
        case any
    }

    /// The result of appending an element.
    enum Admission {
        /// The element was appended, and the consumer will take it without a wake-up.
        case queued
        /// The element was appended, and the caller has to wake the consumer up.
        case needsWakeUp
        case full
        case closed
    }

    /// Appends an element of `size` bytes, or joins it with the last element of the queue.
    ///
    /// The element is created only if `join` has not joined it with the last element.
    func append(
        _ element: @autoclosure () -> Element,
        size: Int,
        room: Room = .whole,
        joining join: (_ last: inout Element) -> Bool = { _ in false }
    ) -> Admission {
        self.state.withLock { state in
            if state.isClosed { return .closed }
            if !self.has(room, for: size, beside: state), !state.elements.isEmpty { return .full }
            state.bytes += size
            if let last = state.elements.indices.last, join(&state.elements[last]) { return .queued }
            state.elements.append(element())
            defer { state.isScheduled = true }
            return state.isScheduled ? .queued : .needsWakeUp
        }
    }

    private func has(_ room: Room, for size: Int, beside state: State) -> Bool {
        // The scale counts halves of the limits.
        let scale =
            switch room {
            case .half: 1
            case .whole: 2
            case .fourfold: 8
            case .any: Int.max
            }
        if scale == .max { return true }
        return state.elements.count < self.countLimit * scale / 2
            && state.bytes + size <= self.byteLimit * scale / 2
    }

    /// Removes and returns all elements; if there are none, the next element needs a wake-up of the consumer.
    func takeAll() -> [Element] {
        self.state.withLock { state in
            let elements = state.elements
            state.elements = []
            state.bytes = 0
            if elements.isEmpty { state.isScheduled = false }
            return elements
        }
    }

    var isClosed: Bool { self.state.withLock { $0.isClosed } }

    /// Closes the queue, which rejects every later element, and returns the elements that were not taken.
    func close() -> [Element] {
        self.state.withLock { state in
            state.isClosed = true
            defer { state.elements = [] }
            return state.elements
        }
    }
}

/// Buffers of sent or received messages, which are kept for the next messages.
///
/// A message buffer is allocated on one thread and freed on another thread. When the freeing thread has
/// handled all waiting messages, the allocator returns the pages of the freed buffers to the system.
/// Allocating the pages again takes longer than copying the messages. At most two megabytes are kept.
final class SpareBuffers: Sendable {
    private let buffers = Locked<[[UInt8]]>([])

    private static let countLimit = 32
    /// The capacities of kept buffers, because smaller ones are cheap to allocate and larger ones are rare.
    private static let sizes = 1 << 12..<1 << 16

    /// The number of kept buffers.
    var count: Int { self.buffers.withLock { $0.count } }

    /// Returns an empty buffer with the capacity for a number of bytes.
    func take(_ size: Int) -> [UInt8] {
        var buffer = Self.sizes.contains(size) ? self.buffers.withLock { $0.popLast() } ?? [] : []
        // If another owner still uses the buffer, the array allocates new memory here.
        buffer.removeAll(keepingCapacity: true)
        buffer.reserveCapacity(size)
        return buffer
    }

    /// Keeps a buffer, unless enough buffers are kept already.
    func give(_ buffer: [UInt8]) {
        guard Self.sizes.contains(buffer.capacity) else { return }
        self.buffers.withLock { if $0.count < Self.countLimit { $0.append(buffer) } }
    }
}
