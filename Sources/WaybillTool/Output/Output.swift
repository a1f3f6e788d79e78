#if Tool
internal import ArgumentParser
internal import Foundation
internal import WaybillCommands

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Standard output, standard error, and the files in the arguments.
enum Output {
    /// Returns the text of a file.
    static func text(ofFile path: String) throws(FileError) -> String {
        let data: Data
        do {
            // A pipe is read as well, for example `/dev/stdin` or `<(command)` of a shell.
            data = try FileHandle(forReadingFrom: URL(filePath: path)).readToEnd() ?? Data()
        } catch {
            throw FileError(path, .unreadable, because: error.fileReason)
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw FileError(path, .unreadable, because: "the file is not UTF-8 text")
        }
        return text
    }

    /// Whether standard output is a terminal that can move its cursor.
    static var isTerminal: Bool {
        let terminal = ProcessInfo.processInfo.environment["TERM"]
        return isatty(1) == 1 && terminal != nil && terminal != "dumb"
    }

    /// Writes a text to standard output at once; throws `ExitCode` when the reader has closed the pipe.
    static func write(_ text: String) throws {
        do {
            try StandardOutput.write(text)
        } catch let error where !(error is ExitCode) {
            throw FileError("standard output", .unwritable, because: error.fileReason)
        }
    }

    /// Writes lines, with their control characters escaped.
    static func write(lines: some Sequence<some StringProtocol>) throws {
        try self.write(lines.map { self.printable(String($0)) + "\n" }.joined())
    }

    /// Writes JSON as one line.
    ///
    /// A value from another process may contain tabs and line breaks, which in JSON are always white space
    /// between two tokens.
    static func write(json: String) throws { try self.write(lines: [self.line(ofJSON: json)]) }

    /// Returns JSON without line breaks and tabs.
    static func line(ofJSON json: String) -> String {
        let space: Set<Unicode.Scalar> = ["\t", "\n", "\r"]
        let scalars = json.unicodeScalars.map { space.contains($0) ? " " : $0 }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Writes a line to standard error.
    static func complain(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data("waybill: \(self.printable(line))\n".utf8))
    }

    /// Returns a text with its control characters escaped, because a terminal might execute them.
    ///
    /// In JSON, other control characters than white space occur only in strings, where the escape has the
    /// same meaning.
    static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: Self.isControl) else { return text }
        var printable = ""
        for scalar in text.unicodeScalars {
            if self.isControl(scalar) {
                let digits = String(scalar.value, radix: 16)
                printable += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                printable.unicodeScalars.append(scalar)
            }
        }
        return printable
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control
    }
}
#endif
