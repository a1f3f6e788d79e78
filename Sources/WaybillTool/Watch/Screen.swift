#if Tool
#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Lines on a terminal that replace the lines written before them.
///
/// The cursor stays below the lines, so that the terminal is usable after an interrupt at any time.
struct Screen {
    private var height = 0

    /// The width and the height of the terminal in characters; 80 by 24 if they are unknown.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        // SAFETY: `ioctl` fills the structure, and keeps no pointer to it.
        guard unsafe ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Returns the text that replaces the previous lines on the terminal with new lines.
    ///
    /// The terminal cuts a line that is too wide, for example because its characters take two columns. If the
    /// terminal wrapped the line, the cursor would go up too few rows later.
    mutating func text(for lines: [String]) -> String {
        let up = self.height > 0 ? "\u{1B}[\(self.height)A" : ""
        self.height = lines.count
        return "\u{1B}[?7l\(up)\r\u{1B}[J" + lines.map { $0 + "\n" }.joined() + "\u{1B}[?7h"
    }
}
#endif
