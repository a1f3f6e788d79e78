internal import CLibUV

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The last step of an orderly close.
///
/// If a TCP socket is closed while its input is unread, or if input arrives later, the system resets the
/// connection, and bytes that the peer's system has not received are lost. The connection therefore ends
/// writing, discards the input, and closes the socket when the peer has ended the connection, or when the
/// peer's system has acknowledged all bytes (RFC 9112, section 9.6).
extension ConnectionCore {
    /// The time between two checks whether the peer's system has acknowledged all bytes.
    private static let pause = Duration.milliseconds(20)

    /// The most reads that discard input of a TCP connection before the loop handles other events.
    private static let readsPerCheck = 4

    private enum Input {
        /// No input is unread.
        case none
        case discarded
        /// The peer has finished or has reset the connection, so that no more input arrives.
        case ended
    }

    /// Closes the connection if its sent bytes are safe, and otherwise checks again later.
    func linger() {
        guard let handle = self.handle else { return }
        if handle.isUnix {
            // The sent bytes are in the peer's buffer already. If input is unread at the close, the peer reads
            // a reset instead of the end. After this call, no more input can arrive.
            _ = shutdown(self.descriptor, Int32(SHUT_RDWR))
            _ = self.discardInput(reads: .max)
            return self.end(.closed(self.peer))
        }
        let input = self.state.hasPeerFinished ? .ended : self.discardInput(reads: Self.readsPerCheck)
        let isSafe = input == .ended || (input == .none && waybill_sent_bytes(self.descriptor) == 0)
        if isSafe || self.closeDeadline.hasPassed(by: self.loop.configuration.time) {
            return self.end(.closed(self.peer))
        }
        _ = shutdown(self.descriptor, Int32(SHUT_WR))
        // The timer repeats the check if the descriptor cannot be watched.
        _ = handle.startReading()
        self.setTimer(at: min(self.closeDeadline, self.loop.deadline(after: Self.pause))) { $0.linger() }
    }

    private func discardInput(reads: Int) -> Input {
        let scratch = unsafe self.loop.state.pointee.streams.scratch
        for read in 0..<reads {
            switch unsafe self.receive(into: scratch) {
            case 1...: continue
            case -Int(EAGAIN): return read == 0 ? .none : .discarded
            default: return .ended
            }
        }
        return .discarded
    }
}
