#if Tool
internal import ArgumentParser
package import Foundation

/// Standard output of a command.
package enum StandardOutput {
    /// Writes a text at once.
    ///
    /// `print` would report neither a full disk nor a closed pipe, because a program with sockets ignores
    /// `SIGPIPE`.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - file: Standard output, or another file in a test.
    /// - Throws: `ExitCode` when the reader has closed the pipe, because the reader needs no message then;
    ///   otherwise the error of the system.
    package static func write(_ text: String, to file: FileHandle = .standardOutput) throws {
        do {
            try file.write(contentsOf: Data(text.utf8))
        } catch let error where error.systemError?.code == Int(EPIPE) {
            throw ExitCode.failure
        }
    }
}

extension Error {
    /// The reason for which the system rejected an operation on a file, such as a full disk.
    package var fileReason: String { (self.systemError ?? self as NSError).localizedDescription }

    /// The error of the system behind an error of Foundation; nil if there is none.
    fileprivate var systemError: NSError? {
        let cause = (self as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        return cause?.domain == NSPOSIXErrorDomain ? cause : nil
    }
}
#endif
