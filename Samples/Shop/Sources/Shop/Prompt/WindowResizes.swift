internal import Glibc
internal import WaybillEventLoop

/// The changes of the window's size, for code that blocks until a key is pressed.
///
/// The loop of the bus receives the signal and writes a byte into a pipe, because a thread can wait for a
/// pipe and a keyboard at once.
final class WindowResizes: Sendable {
    /// The event that ended a wait.
    enum Event {
        case input
        case resized
        /// The wait timed out.
        case idle
    }

    private let readEnd: Int32
    private let forwarding: Task<Void, any Error>

    /// Begins to forward the signal, until the value is released or the loop ends.
    init(on loop: EventLoop) async throws {
        let signals = try await loop.signals(.windowChange)
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw FileError.last }
        // Neither end of the pipe may block. A lost byte does no harm, because the reader reads all available
        // bytes at once.
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        let writeEnd = ends[1]
        self.readEnd = ends[0]
        self.forwarding = Task {
            defer { close(writeEnd) }
            for try await _ in signals {
                // When the pipe is full, a byte in it already announces the change.
                var byte: UInt8 = 0
                _ = unsafe write(writeEnd, &byte, 1)
            }
        }
    }

    deinit {
        self.forwarding.cancel()
        close(self.readEnd)
    }

    /// Blocks until a descriptor has something to read, or the size of the window changes.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor.
    ///   - milliseconds: The time limit, or -1 for none.
    /// - Returns: The event that ended the wait.
    /// - Throws: The error of the system call.
    func waitForInput(_ descriptor: Int32, milliseconds: Int32 = -1) throws(FileError) -> Event {
        var polled = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: self.readEnd, events: Int16(POLLIN), revents: 0),
        ]
        var count: Int32
        repeat {
            count = unsafe poll(&polled, nfds_t(polled.count), milliseconds)
            if count < 0, errno != EINTR { throw .last }
        } while count < 0
        if count == 0 { return .idle }
        guard polled[1].revents != 0 else { return .input }
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe read(self.readEnd, &bytes, bytes.count) == bytes.count {}
        return .resized
    }
}
