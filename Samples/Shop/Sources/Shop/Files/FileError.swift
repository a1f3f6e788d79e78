internal import Glibc

/// What the system says when it does not read or write.
struct FileError: Error, CustomStringConvertible {
    /// The system's number of the error.
    let code: Int32

    /// The error that the system has just reported.
    static var last: Self { Self(code: errno) }

    /// Whether the reader of what is written has gone.
    var isBrokenPipe: Bool { self.code == EPIPE }

    var description: String { unsafe String(cString: strerror(self.code)) }
}
