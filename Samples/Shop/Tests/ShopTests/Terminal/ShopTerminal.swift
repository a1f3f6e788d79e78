import Foundation
import Glibc

/// The built shop on a separate terminal.
///
/// A test presses keys and reads the screen, as a person does.
///
/// The shop leads a session whose controlling terminal is a pseudo-terminal, so Ctrl-C is a signal unless the
/// shop reads it as a key. Tests do not wait for a guessed time. Each wait ends when the screen has the
/// expected contents, or fails at a time limit with the contents of the screen. Releasing the value ends the
/// shop.
final class ShopTerminal {
    /// The longest time for any wait, on the slowest machine.
    private static let limit = Duration.seconds(60)

    /// The folder of the history.
    private let folder: URL
    private let isFolderShared: Bool

    /// The descriptor of the pseudo-terminal that belongs to the terminal's window.
    private let descriptor: Int32
    private var process: pid_t = 0
    private var hasEnded = false

    /// The contents of the terminal.
    private(set) var screen: Screen

    /// Starts the shop at its prompt, or with a command.
    ///
    /// - Parameters:
    ///   - arguments: The command. If it is empty, the function waits for the prompt.
    ///   - folder: The folder of the history, or nil for a new folder.
    ///   - columns: The width of the terminal.
    /// - Throws: ``TerminalError`` if the prompt does not appear.
    init(_ arguments: String..., folder: URL? = nil, columns: Int = 200) throws {
        self.folder = folder ?? FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        self.isFolderShared = folder != nil
        self.screen = Screen(columns: columns)
        var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        var (own, other): (Int32, Int32) = (-1, -1)
        var name = [CChar](repeating: 0, count: 128)
        let result = unsafe openpty(&own, &other, &name, nil, &size)
        self.descriptor = own
        guard result == 0 else {
            throw self.failure("a pseudo-terminal", unsafe String(cString: strerror(errno)))
        }
        // The shop opens its side by its name, and must not inherit either side.
        defer { close(other) }
        for descriptor in [own, other] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        self.process = try self.spawn(arguments, on: name)
        if arguments.isEmpty { try self.waitForPrompt() }
    }

    deinit {
        if !self.hasEnded, self.process > 0 {
            kill(self.process, SIGKILL)
            var status: Int32 = 0
            _ = unsafe waitpid(self.process, &status, 0)
        }
        close(self.descriptor)
        if !self.isFolderShared { try? FileManager.default.removeItem(at: self.folder) }
    }

    private func spawn(_ arguments: [String], on terminal: [CChar]) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that the leader of a session opens becomes its controlling terminal.
        unsafe posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, 0, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // A test in the background may ignore or block signals, which the shop would inherit.
        var every = sigset_t()
        unsafe sigfillset(&every)
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &every)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        let session: Int32 = 0x80  // POSIX_SPAWN_SETSID, which the headers show only to GNU programs.
        let flags = session | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var process: pid_t = 0
        let path = ShopProcess.executable.path
        let environment = [
            "TERM=xterm", "XDG_STATE_HOME=\(self.folder.path)", "LANG=C.UTF-8",
            // Otherwise Swift's backtrace of a crash asks the person at the terminal what to do next.
            "SWIFT_BACKTRACE=interactive=no",
        ]
        let result = unsafe Self.withStrings([path] + arguments) { arguments in
            unsafe Self.withStrings(environment) { environment in
                unsafe posix_spawn(&process, path, &actions, &attributes, arguments, environment)
            }
        }
        guard result == 0 else {
            throw self.failure("the shop to start", unsafe String(cString: strerror(result)))
        }
        return process
    }

    /// Calls a closure with texts as a C array that ends in a null pointer.
    private static func withStrings<Result>(
        _ texts: [String],
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws -> Result
    ) rethrows -> Result {
        var pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
        return unsafe try pointers.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("an array that is not empty") }
            return unsafe try body(base)
        }
    }

    private func failure(_ wanted: String, _ reason: String) -> TerminalError {
        TerminalError(wanted: wanted, reason: reason, lines: self.screen.lines)
    }
}

extension ShopTerminal {
    /// Returns the character that a terminal sends for Ctrl and a letter.
    static func control(_ letter: Character) -> String {
        String(decoding: [(letter.asciiValue ?? 0) & 0x1f], as: UTF8.self)
    }

    /// Presses keys.
    func type(_ keys: String) throws {
        var bytes = Array(keys.utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(self.descriptor, $0.baseAddress, $0.count)
            }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno != EINTR {
                throw self.failure("keys to be taken", unsafe String(cString: strerror(errno)))
            }
        }
    }

    /// Types a line and Enter, waits for the next prompt, and returns the rows in between.
    func enter(_ line: String) throws -> [String] {
        let row = self.screen.cursor.row
        try self.type(line + "\r")
        try self.waitForPrompt(below: row)
        return Array(self.screen.lines[(row + 1)..<self.screen.cursor.row])
    }

    /// Waits until an empty prompt is in a row below this one.
    func waitForPrompt(below row: Int = -1) throws {
        try self.wait(for: "an empty prompt") { screen in
            screen.cursor.row > row && screen.line == "shop>" && screen.cursor.column == 6
        }
    }

    /// Waits until the cursor's row is equal to this text.
    func waitForLine(_ text: String) throws {
        try self.wait(for: "the row \"\(text)\"") { $0.line == text }
    }

    /// Waits until the screen satisfies a condition.
    func wait(for wanted: String, until isThere: (Screen) -> Bool) throws {
        let deadline = ContinuousClock.now + Self.limit
        while !isThere(self.screen) {
            guard let bytes = try self.read(until: deadline, wanted) else {
                throw self.failure(wanted, "the shop ended")
            }
            self.screen.write(bytes)
        }
    }

    /// Changes the size of the terminal's window, which sends the shop a signal.
    func resize(columns: Int) throws {
        var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        self.screen.columns = columns
        guard unsafe ioctl(self.descriptor, UInt(TIOCSWINSZ), &size) == 0 else {
            throw self.failure("another size", unsafe String(cString: strerror(errno)))
        }
    }

    /// Sends a signal to the shop, as another program can.
    func signal(_ number: Int32) { kill(self.process, number) }

    /// Whether the terminal echoes keys and collects lines, as a shell expects.
    var isCooked: Bool {
        var modes = termios()
        guard unsafe tcgetattr(self.descriptor, &modes) == 0 else { return false }
        let flags = tcflag_t(ICANON | ECHO | ISIG)
        return modes.c_lflag & flags == flags
    }

    /// Waits until the shop has ended, and returns its exit status, or nil if a signal ended it.
    func waitForEnd() throws -> Int32? {
        let deadline = ContinuousClock.now + Self.limit
        while let bytes = try self.read(until: deadline, "the shop to end") { self.screen.write(bytes) }
        var status: Int32 = 0
        guard unsafe waitpid(self.process, &status, 0) == self.process else {
            throw self.failure("the exit status", unsafe String(cString: strerror(errno)))
        }
        self.hasEnded = true
        return status & 0x7f == 0 ? (status >> 8) & 0xff : nil
    }

    /// Returns the next output of the shop, or nil when it has closed its terminal.
    private func read(until deadline: ContinuousClock.Instant, _ wanted: String) throws -> ArraySlice<UInt8>?
    {
        while true {
            let left = max(.zero, ContinuousClock.now.duration(to: deadline))
            var poll = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
            let ready = unsafe Glibc.poll(&poll, 1, Int32(left / .milliseconds(1)))
            if ready == 0 { throw self.failure(wanted, "\(Self.limit) passed") }
            var bytes = [UInt8](repeating: 0, count: 4_096)
            let count = ready < 0 ? -1 : unsafe Glibc.read(self.descriptor, &bytes, bytes.count)
            if count > 0 { return bytes[..<count] }
            // Linux reports the end of a terminal as EIO.
            if count == 0 || errno == EIO { return nil }
            if errno != EINTR { throw self.failure(wanted, unsafe String(cString: strerror(errno))) }
        }
    }
}
