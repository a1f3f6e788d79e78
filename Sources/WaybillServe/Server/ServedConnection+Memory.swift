internal import WaybillEventLoop

// The memory that the messages of a peer use.
extension ServedConnection {
    /// The number of bytes that each connection may use even if the server's limit is reached.
    private static let guaranteedBytes = 4096

    /// Returns the size of the accepted messages that are still in memory, in bytes.
    private func acceptedBytes(of session: isolated RPCSession) -> Int {
        session.requests.bytes + self.waitingCalls.bytes + session.unawaitedBytes
    }

    /// Reports changes in the size of the session's messages to the counter of the whole server.
    func countReceivedBytes(of session: isolated RPCSession) {
        let bytes = self.acceptedBytes(of: session) + self.frameBytes
        let change = bytes - self.countedBytes
        guard change != 0 else { return }
        self.countedBytes = bytes
        self.load.assumeOnLoop { $0.add(received: change) }
    }

    /// Records the size of the frame that is being received or handled.
    ///
    /// The method does not count a small frame, to save time.
    func setFrameBytes(_ bytes: Int, in session: isolated RPCSession) {
        self.frameBytes = bytes > Self.guaranteedBytes ? bytes : 0
        self.countReceivedBytes(of: session)
    }

    /// Checks that the limit for all connections allows a message of the frame that is being handled.
    func checkRoom(for bytes: Int, in session: isolated RPCSession) throws(RPCFailure) {
        // The frame already counts with its full size, unless the frame is small.
        if self.acceptedBytes(of: session) + bytes > Self.guaranteedBytes,
            !self.hasRoom(for: bytes - self.frameBytes)
        {
            throw FrameError.noRoom(limit: session.limits.requestBytesOfAll).failure
        }
    }

    /// Checks that the limit for all connections allows the arrived part of a frame, and records its size.
    ///
    /// The caller closes the connection when the method throws.
    func checkPart(of bytes: Int, in session: isolated RPCSession) throws(FrameError) {
        if bytes > Self.guaranteedBytes, !self.hasRoom(for: bytes - self.frameBytes) {
            throw .noRoom(limit: session.limits.requestBytesOfAll)
        }
        self.setFrameBytes(bytes, in: session)
    }

    private func hasRoom(for bytes: Int) -> Bool {
        self.load.assumeOnLoop { $0.hasRoom(forReceived: max(0, bytes)) }
    }

    /// Returns the size of the unread answers, including the answers of unfinished batches, in bytes.
    func unreadBytes(of session: isolated RPCSession) -> Int {
        self.channel.unsentBytes + session.requests.batchBytes
    }

    /// Reports the number of unread bytes, which the limit for all connections includes.
    func noteUnread(of session: isolated RPCSession) {
        let unread = self.unreadBytes(of: session)
        self.load.assumeOnLoop { [number] in $0.note(unread: unread, of: number) }
    }
}
