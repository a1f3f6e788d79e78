#if Tool
/// The reason why a command cannot use a file from its arguments.
struct FileError: Error, CustomStringConvertible {
    /// The exit status of a command that cannot use a file, which is the status that `sysexits.h` defines.
    enum Status: Int32 {
        /// The contents of the file are not in the format that the command reads.
        case invalid = 65
        /// The file does not exist, or cannot be read.
        case unreadable = 66
        /// The file cannot be written.
        case unwritable = 73
    }

    /// The line on standard error.
    let description: String
    let status: Status

    init(_ file: String, _ status: Status, because reason: String) {
        self.description = "\(file): \(reason)"
        self.status = status
    }
}
#endif
