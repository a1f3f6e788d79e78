#if Durable
#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A lock that prevents a second process, or a second store of this process, from opening the file.
///
/// The name of the lock file is the name of the store's file with `-lock` at the end. The lock file contains
/// the ID of the process, whether the store was closed, and the length of the write-ahead log after the last
/// commit. The system releases the lock when the process ends for any reason.
final class StoreLock {
    private let path: String
    private let descriptor: CInt
    /// The content of the lock file, or an empty content if this process must not change the lock file.
    private var content = Content()

    /// Locks a file; throws `corrupt` if the store was not closed and its write-ahead log is missing.
    init(_ path: String) throws(DurableError) {
        // SQLite resolves symbolic links, so the log is next to the file to which a link leads.
        let path = Self.resolved(path)
        let file = "\(path)-lock"
        let descriptor = unsafe open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            let reason = unsafe String(cString: strerror(errno))
            let code: DurableError.Code = [EACCES, EROFS, EPERM].contains(errno) ? .readOnly : .unavailable
            let problem = "\(file) cannot be created: \(reason)"
            let remedy = "check that the folder exists and can be written"
            throw DurableError(code, message: "\(problem); \(remedy)")
        }
        self.path = path
        self.descriptor = descriptor
        let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
        // Read the content after the attempt to lock the file, because another process writes it before.
        let previous = Content(of: descriptor)
        guard isLocked else {
            let name = previous.process.map { "process \($0)" } ?? "another process"
            let message = "\(path) is in use by \(name); stop that process, or choose another file"
            throw DurableError(.inUse, message: message)
        }
        let exists = unsafe access(path, F_OK) == 0
        if exists, unsafe access(path, W_OK) != 0 {
            let reason = unsafe String(cString: strerror(errno))
            let message = "\(path) cannot be written: \(reason); change the permissions of the file"
            throw DurableError(.readOnly, message: message)
        }
        if exists, previous.isOpen, !self.hasLog { throw self.incomplete("is missing") }
        // If this process does not open the store after all, `deinit` updates the lock file.
        self.content = previous
    }

    deinit {
        // SQLite deletes the write-ahead log when the file contains all changes.
        if self.content.isOpen, !self.hasLog { self.mark(isOpen: false) }
        close(self.descriptor)
    }

    /// Returns whether a store has created a lock file for a path.
    static func hasFile(besides path: String) -> Bool {
        unsafe access("\(self.resolved(path))-lock", F_OK) == 0
    }

    /// Returns the path of the file to which a symbolic link leads, and creates the file if it is missing.
    private static func resolved(_ path: String) -> String {
        var information = stat()
        // A link to a missing file has no real path before the file exists.
        if unsafe lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFLNK,
            unsafe access(path, F_OK) != 0
        {
            let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
            if descriptor >= 0 { close(descriptor) }
        }
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    private var hasLog: Bool { unsafe access("\(self.path)-wal", F_OK) == 0 }

    /// Throws `corrupt` if SQLite has found fewer pages in the log than the last process has committed.
    func check(pages: Int) throws(DurableError) {
        guard self.content.isOpen else { return }
        let salt = self.readSalt()
        // SQLite overwrites the log only after it has copied all pages into the file. A shorter log with
        // another salt is therefore complete.
        let previous = self.content
        if pages < previous.pages, salt == previous.salt || salt == 0 {
            // SQLite possibly deletes the log when it closes the file, and messages are missing all the same.
            self.content = Content()
            throw self.incomplete("has \(pages) of its \(previous.pages) pages")
        }
    }

    private func incomplete(_ problem: String) -> DurableError {
        let message =
            "\(self.path)-wal \(problem), although the store was not closed, so messages are missing too; restore "
            + "that file, or delete \(self.path)-lock to continue without them, for example after another program "
            + "has opened the file and copied the log into it"
        return DurableError(.corrupt, message: message)
    }

    /// Writes whether the store is open into the lock file.
    func mark(isOpen: Bool) {
        self.content = Content(process: "\(getpid())", isOpen: isOpen)
        self.write()
        // SQLite then deletes the log. After a power cut, the system must not restore only the old content.
        if !isOpen { fsync(self.descriptor) }
    }

    /// Records that SQLite has copied the log, so that it may overwrite the log from its beginning.
    func noteCheckpoint() { self.content.salt = 0 }

    /// Writes the number of pages that the write-ahead log has after a commit.
    func noteCommit(pages: Int) {
        if self.content.salt == 0 { self.content.salt = self.readSalt() }
        self.content.pages = pages
        self.write()
    }

    private func write() {
        // A store works without this content. The content is for people, and for the checks.
        _ = unsafe self.content.text.withCString { unsafe pwrite(self.descriptor, $0, Content.length, 0) }
    }

    /// Reads the random number in the header of the write-ahead log; 0 if the log has no header.
    private func readSalt() -> UInt64 {
        let log = unsafe open("\(self.path)-wal", O_RDONLY | O_CLOEXEC)
        guard log >= 0 else { return 0 }
        defer { close(log) }
        var salt: UInt64 = 0
        return unsafe pread(log, &salt, 8, 16) == 8 ? salt : 0
    }
}

/// The content of a lock file.
private struct Content {
    /// The ID of the process; nil if the lock file is empty.
    var process: String?
    /// Whether the write-ahead log exists, and possibly has changes that the file does not have.
    var isOpen = false
    /// The random number of the write-ahead log, which is new when SQLite begins the log again.
    var salt: UInt64 = 0
    /// The number of pages in the write-ahead log.
    var pages = 0

    /// The length of the lock file in bytes.
    static let length = 64

    /// The text in the file, filled with spaces so that it replaces all of an earlier text.
    var text: String {
        let text = "\(self.process ?? "") \(self.isOpen ? "open" : "closed") \(self.salt) \(self.pages)"
        return text + String(repeating: " ", count: max(0, Self.length - 1 - text.utf8.count)) + "\n"
    }
}

extension Content {
    /// Reads the content of a lock file; each part that cannot be read has its default value.
    init(of descriptor: CInt) {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.length) { buffer, count in
            count = unsafe max(0, pread(descriptor, buffer.baseAddress, buffer.count, 0))
        }
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count >= 2 else { return }
        self.process = String(words[0])
        self.isOpen = words[1] == "open"
        guard words.count == 4, let salt = UInt64(words[2]), let pages = Int(words[3]) else { return }
        (self.salt, self.pages) = (salt, pages)
    }
}
#endif
