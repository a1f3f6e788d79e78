internal import CLibUV

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

extension ConnectionCore {
    typealias ReadOutcome = Result<[UInt8]?, StreamError>

    private enum Received {
        case bytes([UInt8], more: Bool)
        case nothing
        case end
        case failed(Int32)
    }

    /// Returns, on the loop's thread, the outcome of a read that does not have to wait, or nil.
    func readAtOnce() -> ReadOutcome? {
        guard self.state.answersAtOnce else { return nil }
        switch self.state.read(self.peer) {
        case .pull: return self.pull()
        case .end: return .success(nil)
        case .fail(let failure): return .failure(failure)
        case .wait: preconditionFailure("internal error: a read that has an outcome would wait")
        }
    }

    /// Starts a read, whose outcome finishes the waiter at once or later.
    func read(_ waiter: StreamWaiter<[UInt8]?>) {
        if let outcome = self.readAtOnce() { return waiter.finish(outcome) }
        switch self.state.read(self.peer) {
        case .wait(let watch):
            self.reader = waiter
            guard watch, let status = self.handle?.startReading(), status < 0 else { return }
            self.end(self.receiveError(status))
        case .end: waiter.finish(.success(nil))
        case .fail(let failure): waiter.finish(.failure(failure))
        case .pull: preconditionFailure("internal error: a connection without received bytes reported some")
        }
    }

    /// Removes a reader whose task was cancelled.
    func cancelRead(_ waiter: StreamWaiter<[UInt8]?>) {
        guard self.reader === waiter else { return }
        self.reader = nil
        self.state.cancelRead()
    }

    /// Receives bytes for the waiting reader when libuv reports that the socket is readable.
    func becameReadable() {
        self.loop.whilePolling {
            if self.state.phase == .lingering { return self.linger() }
            guard self.state.phase == .open else { return }
            switch self.state.becameReadable() {
            case .unwatch: self.handle?.stopReading()
            case .pull:
                if let outcome = self.pull() { self.reader.take()?.finish(outcome) }
            }
        }
    }

    /// Receives once, and returns the outcome for the reader, or nil if no bytes were available.
    private func pull() -> ReadOutcome? {
        switch self.receive() {
        case .bytes(let bytes, let more):
            self.state.received(more: more)
            self.noteActivity()
            return .success(bytes)
        case .nothing:
            self.state.receivedNothing()
            return nil
        case .end:
            // The system reports a reset only once, and a write has received the report.
            if let failure = self.state.writeFailure, failure.systemError == ECONNRESET {
                self.end(failure)
                return .failure(failure)
            }
            self.state.peerFinished()
            self.handle?.stopReading()
            return .success(nil)
        case .failed(let status):
            let failure = self.receiveError(status)
            self.end(failure)
            return .failure(failure)
        }
    }

    /// Receives bytes into memory that all connections of the loop share, and copies them.
    ///
    /// After a read that filled this memory, the method receives into a new array instead.
    private func receive() -> Received {
        let limit = self.options.readBufferSize
        if self.receivesMuch, limit > OpenStreams.scratchSize { return self.receiveMuch(limit) }
        let scratch = unsafe self.loop.state.pointee.streams.scratch
        let size = max(1, min(limit, OpenStreams.scratchSize))
        let memory = unsafe UnsafeMutableRawBufferPointer(rebasing: scratch[..<size])
        let count = unsafe self.receive(into: memory)
        guard count > 0 else { return Self.received(count) }
        self.receivesMuch = count == size
        return .bytes(unsafe Array(memory[..<count]), more: count == size)
    }

    private func receiveMuch(_ size: Int) -> Received {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { memory, initialized in
            count = unsafe self.receive(into: UnsafeMutableRawBufferPointer(memory))
            initialized = max(count, 0)
        }
        guard count > 0 else { return Self.received(count) }
        if count >= OpenStreams.scratchSize { return .bytes(bytes, more: count == size) }
        // Copy the bytes, because a few bytes must not keep a large array alive.
        self.receivesMuch = false
        return .bytes(Array(bytes[...]), more: false)
    }

    private static func received(_ count: Int) -> Received {
        if count == 0 { return .end }
        return count == UV_EAGAIN.rawValue ? .nothing : .failed(Int32(count))
    }

    /// Returns the number of received bytes, zero at the end of the stream, or a negated `errno` on failure.
    func receive(into memory: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let count = unsafe recv(self.descriptor, memory.baseAddress, memory.count, 0)
            if count >= 0 { return count }
            if errno != EINTR { return -Int(errno) }
        }
    }

    private func receiveError(_ status: Int32) -> StreamError {
        .system(status, action: "receive from \(self.peer)", address: self.peer)
    }
}
