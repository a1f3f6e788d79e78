internal import Glibc

/// The terminal that the shop runs on.
enum Terminal {
    /// Whether input and output are a terminal that can move its cursor.
    static var isInteractive: Bool {
        isatty(0) == 1 && isatty(1) == 1 && Environment["TERM"] != nil && Environment["TERM"] != "dumb"
    }

    /// The number of columns.
    static var columns: Int { self.size.columns }

    /// The size of the terminal, or the size of an old terminal if it is unknown.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        let isKnown = unsafe ioctl(1, UInt(TIOCGWINSZ), &size) == 0
        return (
            isKnown && size.ws_col > 0 ? Int(size.ws_col) : 80,
            isKnown && size.ws_row > 0 ? Int(size.ws_row) : 24
        )
    }

    /// Runs a closure while each key arrives immediately and is not echoed.
    static func withoutEcho<Result>(_ body: () throws -> Result) throws -> Result {
        var before = termios()
        guard unsafe tcgetattr(0, &before) == 0 else { throw FileError.last }
        var raw = before
        unsafe cfmakeraw(&raw)
        guard unsafe tcsetattr(0, TCSADRAIN, &raw) == 0 else { throw FileError.last }
        defer { _ = unsafe tcsetattr(0, TCSADRAIN, &before) }
        return try body()
    }
}
