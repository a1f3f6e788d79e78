internal import WaybillEventLoop

/// A bounded queue between two threads, the second of which is woken up once for many elements.
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

    /// How much of the limits an element may use.
    enum Room {
        /// What may be lost leaves room for what is waited for.
        case half
        case whole
        /// What is small, and ends a wait.
        case fourfold
        /// What is about the ring's own use.
        case any
    }

    /// What becomes of an element.
    enum Admission {
        /// The other thread takes it with those before.
        case queued
        /// The other thread has to be woken up.
        case needsWakeUp
        case full
        case closed
    }

    /// Appends an element.
    ///
    /// - Parameters:
    ///   - element: The element, which is made only if it does not join another one.
    ///   - size: Its bytes.
    ///   - room: How much of the limits it may use.
    ///   - join: Puts it into the last element that waits, if it can.
    /// - Returns: What became of it.
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
        // In halves.
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

    /// Takes all elements; without any, the next one needs a wake-up.
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

    /// Takes nothing any more.
    ///
    /// - Returns: What the other thread has not taken.
    func close() -> [Element] {
        self.state.withLock { state in
            state.isClosed = true
            defer { state.elements = [] }
            return state.elements
        }
    }
}

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
