internal import CLibUV

extension ConnectionCore {
    /// A write whose bytes wait until the queue is not full.
    ///
    /// The bytes do not belong to the queue yet, so that a cancelled write leaves no bytes behind.
    struct WaitingWrite {
        let waiter: StreamWaiter<Void>
        let buffers: [[UInt8]]
    }

    /// The most bytes that are copied for libuv when the socket is full.
    ///
    /// libuv reports that a socket is writable only by completing a write request, whose bytes must not move.
    /// When libuv has sent this copy, the connection sends the other bytes from the queue's buffers again.
    private static var blockedBytes: Int { 16 * 1024 }

    /// Writes one buffer, on the loop's thread, even if the queue is full; returns the failure.
    func write(_ bytes: [UInt8]) -> StreamError? {
        switch self.state.write(bytes.count, self.peer) {
        case .fail(let failure): return failure
        case .queue: self.queue.append(bytes)
        case .send:
            if bytes.isEmpty { return nil }
            let sent = self.tryWrite(bytes)
            if sent == bytes.count {
                self.state.sent(sent)
                self.noteActivity()
                return nil
            }
            self.queue.append(bytes, skipping: max(sent, 0))
            self.noteSent(sent, of: bytes.count)
        }
        return self.state.writeFailure
    }

    /// Writes buffers in as few system calls as possible, and finishes the waiter, at once or when the queue
    /// is not full.
    func write(_ buffers: [[UInt8]], _ waiter: StreamWaiter<Void>) {
        if let refusal = self.state.refusal(self.peer) { return waiter.finish(.failure(refusal)) }
        if self.state.isFull { return self.writers.append(WaitingWrite(waiter: waiter, buffers: buffers)) }
        let write = self.state.write(buffers.reduce(0) { $0 + $1.count }, self.peer)
        if case .fail(let failure) = write { return waiter.finish(.failure(failure)) }
        for bytes in buffers { self.queue.append(bytes) }
        if case .send = write { self.flush() }
        waiter.finish(self.state.writeFailure.map { .failure($0) } ?? .success(()))
    }

    /// Moves waiting writes to the queue while the queue is not full, and finishes their waiters.
    private func admitWriters() {
        while !self.writers.isEmpty, !self.state.isFull {
            let write = self.writers.removeFirst()
            self.state.admit(write.buffers.reduce(0) { $0 + $1.count })
            for bytes in write.buffers { self.queue.append(bytes) }
            write.waiter.finish(.success(()))
        }
    }

    private func tryWrite(_ bytes: [UInt8]) -> Int {
        guard let handle = self.handle else { return 0 }
        return unsafe bytes.withUnsafeBytes { bytes in
            let buffer = unsafe uv_buf_t(bytes, from: 0, count: min(bytes.count, 1 << 30))
            return unsafe withUnsafePointer(to: buffer) { buffer in
                unsafe handle.tryWrite(UnsafeBufferPointer(start: buffer, count: 1))
            }
        }
    }

    /// Sends the queued bytes, as far as the socket accepts them.
    func flush() {
        while let handle = self.handle {
            self.admitWriters()
            switch self.state.nextStep() {
            case .send:
                let (sent, count) = unsafe self.queue.withFront { buffers, count in
                    (unsafe handle.tryWrite(buffers), count)
                }
                if sent > 0 { self.queue.consume(sent) }
                self.noteSent(sent, of: count)
            case .shutDown: self.shutDownWriting(handle)
            case .linger: self.linger()
            case .rest: return
            }
        }
    }

    /// Updates the state after bytes were sent and have left the queue.
    private func noteSent(_ sent: Int, of count: Int) {
        if sent < 0 { return self.failWriting(Int32(sent)) }
        if sent > 0 { self.noteActivity() }
        self.state.sent(sent)
        if sent < count { self.block() }
    }

    /// Passes copies of the first queued bytes to libuv, which waits until the socket accepts the bytes.
    private func block() {
        let count = min(self.queue.count, Self.blockedBytes)
        guard let handle = self.handle, count > 0 else { return }
        self.state.block()
        let status = unsafe handle.write(count) { memory in
            unsafe self.queue.move(into: memory)
        } onDone: { status in
            self.unblock(count, status)
        }
        if status < 0 { self.unblock(count, status) }
    }

    private func unblock(_ count: Int, _ status: Int32) {
        self.state.unblock(count)
        guard self.handle != nil else { return }
        if status < 0 { return self.failWriting(status) }
        self.noteActivity()
        self.flush()
    }

    /// Ends writing after a failure.
    ///
    /// Reading continues, because the peer may have sent the reason for the failure.
    private func failWriting(_ status: Int32) {
        let failure = StreamError.system(status, action: "send to \(self.peer)", address: self.peer)
        self.state.writeFailed(failure)
        self.queue.removeAll()
        self.failWriters(failure)
        if self.state.phase == .draining || self.state.phase == .lingering { self.end(.closed(self.peer)) }
    }

    /// Fails every task that writes or finishes writing.
    func failWriters(_ failure: StreamError) {
        let waiters = self.writers.map(\.waiter) + self.finishers
        self.writers = []
        self.finishers = []
        for waiter in waiters { waiter.finish(.failure(failure)) }
    }

    /// Ends writing after the queued bytes are sent, and then finishes the waiter.
    func finishWriting(_ waiter: StreamWaiter<Void>) {
        switch self.state.finishWriting() {
        case .done: waiter.finish(.success(()))
        case .fail(let failure): waiter.finish(.failure(failure))
        case .wait:
            self.finishers.append(waiter)
            self.flush()
        }
    }

    private func shutDownWriting(_ handle: StreamHandle) {
        let status = handle.shutDown { self.shutDownDone($0) }
        if status < 0 { self.shutDownDone(status) }
    }

    private func shutDownDone(_ status: Int32) {
        guard self.handle != nil else { return }
        if status < 0 { return self.failWriting(status) }
        self.state.shutDownDone()
        let finishers = self.finishers
        self.finishers = []
        for finisher in finishers { finisher.finish(.success(())) }
    }
}
