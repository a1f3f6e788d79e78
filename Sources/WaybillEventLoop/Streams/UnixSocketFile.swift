internal import CLibUV

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The file of a listening Unix socket.
///
/// A killed server leaves its file behind, and the file prevents the next server from binding. A connection
/// attempt shows whether a server still answers. If no server answers, the next server replaces the file.
/// Between the connection attempt and the creation of the new file, no other server may make the same
/// attempt. Every server therefore holds a lock on the folder while it binds.
struct UnixSocketFile: Sendable {
    private let path: String
    private let device: UInt64
    private let inode: UInt64

    /// The number of attempts to lock the folder, a millisecond apart.
    private static let attempts = 200

    /// Opens a socket that listens at a path.
    ///
    /// The error has the code `addressInUse` if a server answers at the path, or the file there is not a
    /// socket.
    static nonisolated(nonsending) func listen(
        at path: String,
        _ options: StreamOptions
    ) async throws(StreamError) -> (descriptor: Int32, file: UnixSocketFile?) {
        let socketAddress = try SocketAddress(path: path)
        let folder = Self.openFolder(of: path)
        // Closing the folder releases the lock.
        defer { if folder >= 0 { StreamSocket.close(folder) } }
        try await Self.lock(folder, of: path)
        let address = StreamAddress.unix(path)
        let descriptor: Int32
        do throws(StreamError) {
            descriptor = try StreamSocket.listen(at: socketAddress, address, options)
        } catch  where error.code == .addressInUse {
            try Self.removeStale(path, socketAddress)
            descriptor = try StreamSocket.listen(at: socketAddress, address, options)
        }
        return (descriptor, UnixSocketFile(path))
    }

    private init?(_ path: String) {
        guard let status = Self.status(of: path) else { return nil }
        self.path = path
        self.device = UInt64(truncatingIfNeeded: status.st_dev)
        self.inode = UInt64(status.st_ino)
    }

    /// Removes the file, unless another server has replaced it.
    func remove() {
        if UnixSocketFile(self.path).map({ $0.inode == self.inode && $0.device == self.device }) ?? false {
            _ = unsafe unlink(self.path)
        }
    }

    private static func removeStale(_ path: String, _ socketAddress: SocketAddress) throws(StreamError) {
        let isSocket = Self.status(of: path).map { $0.st_mode & S_IFMT == S_IFSOCK } ?? false
        let rival =
            isSocket
            ? Self.answers(at: socketAddress) ? "another server listens at this path" : nil
            : "the path is a file that is not a socket"
        if let rival {
            let message = "could not listen at unix:\(path): \(rival)"
            throw StreamError(.addressInUse, message: message, address: .unix(path), systemError: EADDRINUSE)
        }
        _ = unsafe unlink(path)
    }

    /// Returns whether a server listens at the address, including a server whose backlog is full.
    private static func answers(at address: SocketAddress) -> Bool {
        let descriptor = waybill_stream_socket(address.family)
        guard descriptor >= 0 else { return true }
        defer { StreamSocket.close(descriptor) }
        let status = unsafe address.withPointer { unsafe connect(descriptor, $0, address.length) }
        return status == 0 || (errno != ECONNREFUSED && errno != ENOENT)
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }

    private static func openFolder(of path: String) -> Int32 {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        return unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }

    /// Locks the folder, or gives up after a number of attempts.
    ///
    /// Another server holds the lock only while it binds. If another program keeps the folder locked, or the
    /// folder cannot be locked, the server starts nevertheless. Two servers that start at the same moment
    /// then possibly do not detect each other.
    private static nonisolated(nonsending) func lock(
        _ folder: Int32,
        of path: String
    ) async throws(StreamError) {
        for _ in 0..<Self.attempts {
            if flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { return }
            if Task.isCancelled { throw .cancelled(.unix(path)) }
            try? await Task.sleep(for: .milliseconds(1))
        }
    }
}
