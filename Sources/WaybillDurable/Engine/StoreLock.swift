#if Durable
#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A lock that prevents a second process, or a second store of this process, from opening the file.
///
/// The name of the lock file is the name of the store's file with `-lock` at the end. The lock file contains
/// the ID of the process, and whether the store was closed. The system releases the lock when the process
/// ends for any reason.
final class StoreLock {
    private let path: String
    private let descriptor: CInt
    /// The state that this process has written into the lock file; nil until the process has the lock.
    private var state: State?

    /// Locks a file.
    ///
    /// - Throws: `inUse` with the ID of the other process; `corrupt` if the store was not closed and its
    ///   write-ahead log is missing.
    init(_ path: String) throws(DurableError) {
        let file = "\(path)-lock"
        let descriptor = unsafe open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            let reason = unsafe String(cString: strerror(errno))
            let code: DurableError.Code = [EACCES, EROFS, EPERM].contains(errno) ? .readOnly : .unavailable
            throw DurableError(
                code,
                message:
                    "\(file) cannot be created: \(reason); check that the folder exists and can be written"
            )
        }
        self.path = path
        self.descriptor = descriptor
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let owner = Self.content(of: descriptor).prefix { $0 != " " }
            let name = owner.isEmpty ? "another process" : "process \(owner)"
            throw DurableError(
                .inUse,
                message: "\(path) is in use by \(name); stop that process, or choose another file"
            )
        }
        let wasOpen = Self.content(of: descriptor).hasSuffix("open")
        if wasOpen, unsafe access(path, F_OK) == 0, unsafe access("\(path)-wal", F_OK) != 0 {
            throw DurableError(
                .corrupt,
                message: "\(path)-wal is missing, although the store was not closed, so messages are "
                    + "missing too; restore that file, or delete \(file) to continue without them"
            )
        }
        self.mark(wasOpen ? .open : .closed)
    }

    deinit {
        // SQLite deletes the write-ahead log when the file contains all changes, also after a failure of the
        // store.
        if self.state == .open, unsafe access("\(self.path)-wal", F_OK) != 0 { self.mark(.closed) }
        close(self.descriptor)
    }

    enum State: String {
        /// The store is possibly incomplete without its write-ahead log, which exists.
        case open
        case closed
    }

    /// Writes the state of the store into the lock file.
    func mark(_ state: State) {
        self.state = state
        let text = "\(getpid()) \(state)"
        // A store works without this content. The content is for people, and for the check in `init`.
        _ = ftruncate(self.descriptor, 0)
        _ = unsafe text.withCString { unsafe pwrite(self.descriptor, $0, strlen($0), 0) }
    }

    private static func content(of descriptor: CInt) -> String {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
            count = unsafe max(0, pread(descriptor, buffer.baseAddress, buffer.count, 0))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
#endif
