#if NATS
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The wait of a connection's thread, which ends when a socket is ready or another thread sends a signal.
///
/// The poller lives as long as the connection. The socket is a different one after each attempt to connect.
@safe
final class NATSPoller: Sendable {
    private let isCalled = Atomic(false)
    private let isWaiting = Atomic(false)
    private let wakeUps: (reader: Int32, writer: Int32)

    init() throws(RoutingError) {
        var ends: [2 of Int32] = [-1, -1]
        var places = ends.mutableSpan
        // `pipe` writes two descriptors, and the array has two elements.
        let status = unsafe places.withUnsafeMutableBufferPointer { unsafe pipe($0.baseAddress) }
        guard status == 0 else {
            throw RoutingError(
                .unreachable,
                message:
                    "the process has no file descriptor left for a connection: raise the limit (ulimit -n)"
            )
        }
        self.wakeUps = (ends[0], ends[1])
        for end in [ends[0], ends[1]] {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        _ = close(self.wakeUps.reader)
        _ = close(self.wakeUps.writer)
    }

    /// Signals the thread, from any thread, and wakes it up if it waits.
    func wakeUp() {
        self.isCalled.store(true, ordering: .sequentiallyConsistent)
        guard self.isWaiting.exchange(false, ordering: .sequentiallyConsistent) else { return }
        // The pipe is full only when many wake-ups have not been read. In that case no further wake-up is
        // needed.
        _ = unsafe write(self.wakeUps.writer, [1], 1)
    }

    /// Returns whether the thread has been signalled since the last call.
    func takeCall() -> Bool { self.isCalled.exchange(false, ordering: .acquiringAndReleasing) }

    /// Waits until the socket is ready or the thread is signalled, or only polls for zero milliseconds.
    ///
    /// The socket is ready when it is readable. If bytes wait to be written, it is also ready when it is
    /// writable. Without a socket, only a signal ends the wait early.
    func wait(for socket: NATSSocket?, milliseconds: Int32) -> (canRead: Bool, canWrite: Bool) {
        var timeout = milliseconds
        if timeout > 0 {
            self.isWaiting.store(true, ordering: .sequentiallyConsistent)
            if self.isCalled.load(ordering: .sequentiallyConsistent) {
                self.isWaiting.store(false, ordering: .sequentiallyConsistent)
                timeout = 0
            }
        }
        let (descriptor, isWriteWanted) = socket?.watched ?? (nil, false)
        // `poll` ignores a negative descriptor.
        var polled: [2 of pollfd] = [
            pollfd(
                fd: descriptor ?? -1,
                events: Int16(POLLIN | (isWriteWanted ? POLLOUT : 0)),
                revents: 0
            ),
            pollfd(fd: self.wakeUps.reader, events: Int16(POLLIN), revents: 0),
        ]
        var places = polled.mutableSpan
        // The array has two elements, which is the count that is passed.
        _ = unsafe places.withUnsafeMutableBufferPointer { unsafe poll($0.baseAddress, 2, timeout) }
        if timeout > 0 { self.isWaiting.store(false, ordering: .sequentiallyConsistent) }
        // If a wake-up comes too late for this call, the next call returns early and reads the wake-up.
        if polled[1].revents != 0 {
            var bytes: (UInt64, UInt64) = (0, 0)
            _ = unsafe read(self.wakeUps.reader, &bytes, 16)
        }
        let happened = Int32(polled[0].revents)
        // Report an error as readable, because the next read then returns the error.
        return (happened & ~Int32(POLLOUT) != 0, happened & Int32(POLLOUT) != 0)
    }
}
#endif
