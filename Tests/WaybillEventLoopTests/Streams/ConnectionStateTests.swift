internal import Testing

@testable internal import WaybillEventLoop

struct ConnectionStateTests {
    private static let address = StreamAddress.unix("")
    private static let closed = StreamError.closed(Self.address)
    private let state = Box(ConnectionState(isConnected: true, highWaterMark: 10))

    @Test
    func `the first write of a connection is sent immediately, and later writes are queued`() {
        #expect(self.write(4) == "send")
        #expect(self.write(4) == "queue")
        self.state.value.sent(8)
        #expect(self.write(1) == "send")
    }

    @Test
    func `a connection is full above the high-water mark, and not at it`() {
        #expect(self.write(10) == "send")
        #expect(!self.state.value.isFull)
        #expect(self.write(1) == "queue")
        #expect(self.state.value.isFull)
        self.state.value.sent(1)
        #expect(!self.state.value.isFull)
    }

    @Test
    func `a blocked connection sends nothing until the socket accepts bytes`() {
        #expect(self.write(9) == "send")
        self.state.value.block()
        #expect(self.state.value.nextStep() == .rest)
        self.state.value.unblock(5)
        #expect(self.state.value.nextStep() == .send)
        self.state.value.sent(4)
        #expect(self.state.value.nextStep() == .rest)
    }

    @Test
    func `the writing side is shut down once, after the waiting writes`() {
        #expect(self.write(3) == "send")
        #expect(self.finish() == "wait")
        #expect(self.write(1) == "closed")
        #expect(self.state.value.nextStep() == .send)
        self.state.value.sent(3)
        #expect(self.state.value.nextStep() == .shutDown)
        #expect(self.state.value.nextStep() == .rest)
        #expect(self.finish() == "wait")
        self.state.value.shutDownDone()
        #expect(self.finish() == "done")
        #expect(self.read() == "pull")
    }

    @Test
    func `closing a connection sends its queued writes, and rejects new ones`() {
        #expect(self.write(3) == "send")
        #expect(self.state.value.close(Self.closed) == .drain)
        #expect(self.state.value.close(Self.closed) == .nothing)
        #expect(self.write(1) == "closed")
        #expect(self.read() == "closed")
        #expect(self.state.value.nextStep() == .send)
        self.state.value.sent(3)
        #expect(self.state.value.nextStep() == .linger)
        #expect(self.state.value.nextStep() == .rest)
    }

    @Test
    func `closing a connection with nothing to send only makes sure that its bytes have arrived`() {
        #expect(self.state.value.close(Self.closed) == .drain)
        #expect(self.state.value.nextStep() == .linger)
        #expect(self.state.value.close(Self.closed) == .nothing)
        #expect(self.state.value.end(Self.closed) == true)
        #expect(self.state.value.end(Self.closed) == false)
        #expect(self.state.value.nextStep() == .rest)
    }

    @Test
    func `a failed write leaves reading possible`() {
        #expect(self.write(3) == "send")
        self.state.value.writeFailed(StreamError(.reset, message: ""))
        #expect(self.state.value.pendingBytes == 0)
        #expect(self.write(1) == "reset")
        #expect(self.finish() == "reset")
        #expect(self.read() == "pull")
    }

    @Test
    func `the end of the peer's bytes is returned for each further read`() {
        self.state.value.peerFinished()
        #expect(self.state.value.answersAtOnce)
        #expect(self.read() == "end")
        #expect(self.read() == "end")
        #expect(self.write(1) == "send")
    }

    private func write(_ count: Int) -> String {
        switch self.state.value.write(count, Self.address) {
        case .send: "send"
        case .queue: "queue"
        case .fail(let failure): "\(failure.code)"
        }
    }

    private func finish() -> String {
        switch self.state.value.finishWriting() {
        case .wait: "wait"
        case .done: "done"
        case .fail(let failure): "\(failure.code)"
        }
    }

    private func read() -> String {
        switch self.state.value.read(Self.address) {
        case .pull: "pull"
        case .wait: "wait"
        case .end: "end"
        case .fail(let failure): "\(failure.code)"
        }
    }
}
