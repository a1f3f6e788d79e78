internal import WaybillEventLoop

// The memory that the messages of the peer need.
extension RPCSession {
    /// The size of the messages that a connection may have although the server's limit is reached, in bytes.
    private static let guaranteedBytes = 4096

    /// The size of the accepted messages that are in memory, in bytes.
    private var acceptedBytes: Int { self.requests.bytes + self.waitingCalls.bytes + self.unawaitedBytes }

    /// Adds the change in the session's memory to the received bytes of the server.
    func countReceivedBytes() {
        let bytes = self.acceptedBytes + self.frameBytes
        guard let load = self.load, bytes != self.countedBytes else { return }
        let change = bytes - self.countedBytes
        self.countedBytes = bytes
        load.assumeOnLoop { $0.add(received: change) }
    }

    /// Records the size of the frame that is being received or handled.
    ///
    /// A small frame is not counted, so that it costs no time.
    func setFrameBytes(_ bytes: Int) {
        self.frameBytes = bytes > Self.guaranteedBytes ? bytes : 0
        self.countReceivedBytes()
    }

    /// Checks that the server has room for a message of the frame that is being handled.
    ///
    /// - Throws: The failure to answer with when the messages of all connections have reached the limit.
    func checkRoom(for bytes: Int) throws(RPCFailure) {
        // The frame of the message is counted already, unless the frame is small.
        if self.acceptedBytes + bytes > Self.guaranteedBytes, !self.hasRoom(for: bytes - self.frameBytes) {
            throw FrameError.noRoom(limit: self.limits.requestBytesOfAll).failure
        }
    }

    /// Checks that the server has room for the part of a frame that has arrived.
    ///
    /// - Throws: The reason to close the connection when the messages of all connections have reached the
    ///   limit.
    func checkPart(of bytes: Int) throws(FrameError) {
        if bytes > Self.guaranteedBytes, !self.hasRoom(for: bytes - self.frameBytes) {
            throw .noRoom(limit: self.limits.requestBytesOfAll)
        }
        self.setFrameBytes(bytes)
    }

    private func hasRoom(for bytes: Int) -> Bool {
        self.load?.assumeOnLoop { $0.hasRoom(forReceived: max(0, bytes)) } ?? true
    }
}
