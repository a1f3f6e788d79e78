internal import WaybillEventLoop

// The memory that the messages of a peer use.
extension RPCSession {
    /// The number of bytes that each connection may use even if the server's limit is reached.
    private static let guaranteedBytes = 4096

    /// The size of the accepted messages that are still in memory, in bytes.
    private var acceptedBytes: Int { self.requests.bytes + self.waitingCalls.bytes + self.unawaitedBytes }

    /// Reports changes in the size of the session's messages to the counter of the whole server.
    func countReceivedBytes() {
        let bytes = self.acceptedBytes + self.frameBytes
        guard let load = self.load, bytes != self.countedBytes else { return }
        let change = bytes - self.countedBytes
        self.countedBytes = bytes
        load.assumeOnLoop { $0.add(received: change) }
    }

    /// Records the size of the frame that is being received or handled.
    ///
    /// The method does not count a small frame, to save time.
    func setFrameBytes(_ bytes: Int) {
        self.frameBytes = bytes > Self.guaranteedBytes ? bytes : 0
        self.countReceivedBytes()
    }

    /// Checks that the limit of the server allows a message of the frame that is being handled.
    ///
    /// - Throws: The failure for the peer, when the messages of all connections have reached the limit.
    func checkRoom(for bytes: Int) throws(RPCFailure) {
        // The frame already counts with its full size, unless the frame is small.
        if self.acceptedBytes + bytes > Self.guaranteedBytes, !self.hasRoom(for: bytes - self.frameBytes) {
            throw FrameError.noRoom(limit: self.limits.requestBytesOfAll).failure
        }
    }

    /// Checks that the limit of the server allows the part of a frame that has arrived.
    ///
    /// - Throws: The reason to close the connection, when the messages of all connections have reached the
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
