internal import CLibUV

/// The bytes of a connection that wait to be sent, in the buffers in which they were written.
///
/// Buffers are kept, not copied; what is sent leaves the queue at once.
struct WriteQueue {
    /// The most buffers that one system call writes.
    private static var mostBuffers: Int { 16 }

    /// The most bytes that one system call writes, well within the numbers that libuv counts with.
    private static var mostBytes: Int { 1 << 30 }

    private var buffers: [[UInt8]] = []
    /// The index of the first buffer that is not sent.
    private var head = 0
    /// How many bytes of that buffer are sent.
    private var offset = 0
    /// How many bytes wait.
    private(set) var count = 0

    /// Adds a buffer, without the bytes at its start that are sent already.
    mutating func append(_ bytes: [UInt8], skipping sent: Int = 0) {
        guard bytes.count > sent else { return }
        if self.head == self.buffers.count { self.offset = sent }
        self.buffers.append(bytes)
        self.count += bytes.count - sent
    }

    /// Removes bytes from the front.
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

    /// Drops everything.
    mutating func removeAll() { self = Self() }

    /// Copies as many bytes from the front as the memory takes, and removes them.
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

    /// Runs a closure with the front of the queue, as one system call takes it.
    ///
    /// - Parameter body: Gets the buffers, which are valid until it returns, and how many bytes they are.
    /// - Returns: What the closure returns.
    func withFront<Result>(_ body: (UnsafeBufferPointer<uv_buf_t>, Int) -> Result) -> Result {
        unsafe withUnsafeTemporaryAllocation(of: uv_buf_t.self, capacity: Self.mostBuffers) { vectors in
            unsafe self.gather(from: self.head, into: vectors, 0, 0, body)
        }
    }

    /// Adds a buffer to those that were gathered, and goes on within the scope in which it is valid.
    private func gather<Result>(
        from index: Int,
        into vectors: UnsafeMutableBufferPointer<uv_buf_t>,
        _ count: Int,
        _ total: Int,
        _ body: (UnsafeBufferPointer<uv_buf_t>, Int) -> Result
    ) -> Result {
        guard count < Self.mostBuffers, index < self.buffers.count, total < Self.mostBytes else {
            return unsafe body(UnsafeBufferPointer(rebasing: vectors[..<count]), total)
        }
        return unsafe self.buffers[index].withUnsafeBytes { bytes in
            let sent = index == self.head ? self.offset : 0
            let length = min(bytes.count - sent, Self.mostBytes - total)
            unsafe vectors[count] = .init(bytes, from: sent, count: length)
            return unsafe self.gather(from: index + 1, into: vectors, count + 1, total + length, body)
        }
    }
}

extension uv_buf_t {
    /// Some bytes for libuv to read; they must stay where they are while it does.
    init(_ bytes: UnsafeRawBufferPointer, from start: Int, count: Int) {
        let address = unsafe bytes.baseAddress.map { unsafe UnsafeMutableRawPointer(mutating: $0 + start) }
        unsafe self = uv_buf_init(address?.assumingMemoryBound(to: CChar.self), UInt32(count))
    }
}
