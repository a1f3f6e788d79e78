internal import CLibUV

/// The unsent bytes of a connection, in the buffers in which they were written.
///
/// Buffers are kept without a copy. A buffer is released once all its bytes are sent.
struct WriteQueue {
    /// The most buffers that one system call writes.
    private static var mostBuffers: Int { 16 }

    /// The most bytes that one system call writes; the number fits in libuv's integer types.
    private static var mostBytes: Int { 1 << 30 }

    private var buffers: [[UInt8]] = []
    /// The index of the first buffer that has unsent bytes.
    private var head = 0
    /// The number of sent bytes of the first buffer.
    private var offset = 0
    /// The number of unsent bytes.
    private(set) var count = 0

    /// Appends a buffer, except the bytes at its start that are sent already.
    mutating func append(_ bytes: [UInt8], skipping sent: Int = 0) {
        guard bytes.count > sent else { return }
        if self.head == self.buffers.count { self.offset = sent }
        self.buffers.append(bytes)
        self.count += bytes.count - sent
    }

    /// Removes sent bytes from the front.
    mutating func consume(_ count: Int) {
        self.count -= count
        self.offset += count
        while self.head < self.buffers.count, self.offset >= self.buffers[self.head].count {
            self.offset -= self.buffers[self.head].count
            self.buffers[self.head] = []
            self.head += 1
        }
        if self.head * 2 >= self.buffers.count {
            self.buffers.removeFirst(self.head)
            self.head = 0
        }
    }

    mutating func removeAll() { self = Self() }

    /// Moves bytes from the front into the memory until the memory is full.
    mutating func move(into memory: UnsafeMutableRawBufferPointer) {
        var filled = 0
        while filled < memory.count {
            let count = min(self.buffers[self.head].count - self.offset, memory.count - filled)
            unsafe self.buffers[self.head].withUnsafeBytes { bytes in
                let target = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[filled..<filled + count])
                let start = self.offset
                unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
            }
            self.consume(count)
            filled += count
        }
    }

    /// Calls a closure with the front of the queue, as buffers for one system call.
    ///
    /// The buffers are valid until `body` returns. The number is the number of bytes in the buffers.
    func withFront<Result>(_ body: (UnsafeBufferPointer<uv_buf_t>, Int) -> Result) -> Result {
        unsafe withUnsafeTemporaryAllocation(of: uv_buf_t.self, capacity: Self.mostBuffers) { vectors in
            unsafe self.gather(from: self.head, into: vectors, 0, total: 0, body)
        }
    }

    /// Adds a buffer to `vectors`, and calls itself for the next buffer while the first buffer is valid.
    private func gather<Result>(
        from index: Int,
        into vectors: UnsafeMutableBufferPointer<uv_buf_t>,
        _ count: Int,
        total: Int,
        _ body: (UnsafeBufferPointer<uv_buf_t>, Int) -> Result
    ) -> Result {
        guard count < Self.mostBuffers, index < self.buffers.count, total < Self.mostBytes else {
            return unsafe body(UnsafeBufferPointer(rebasing: vectors[..<count]), total)
        }
        return unsafe self.buffers[index].withUnsafeBytes { bytes in
            let sent = index == self.head ? self.offset : 0
            let length = min(bytes.count - sent, Self.mostBytes - total)
            unsafe vectors[count] = .init(bytes, from: sent, count: length)
            return unsafe self.gather(from: index + 1, into: vectors, count + 1, total: total + length, body)
        }
    }
}

extension uv_buf_t {
    /// Creates a buffer from bytes that must not move until libuv has read them.
    init(_ bytes: UnsafeRawBufferPointer, from start: Int, count: Int) {
        let address = unsafe bytes.baseAddress.map { unsafe UnsafeMutableRawPointer(mutating: $0 + start) }
        unsafe self = uv_buf_init(address?.assumingMemoryBound(to: CChar.self), UInt32(count))
    }
}
