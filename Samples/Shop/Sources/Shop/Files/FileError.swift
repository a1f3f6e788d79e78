internal import Glibc

/// An error of reading or writing a file.
struct FileError: Error, CustomStringConvertible {
    /// The error number of the system.
    let code: Int32

    /// Creates the error that the system has just reported.
    static var last: Self { Self(code: errno) }

    /// Whether the reader of the output has gone.
    var isBrokenPipe: Bool { self.code == EPIPE }

    var description: String { unsafe String(cString: strerror(self.code)) }
}
