internal import Glibc

/// The terminal as one screen whose rows a program draws.
///
/// The terminal is restored however the program ends.
///
/// A signal that would end the program, including a crash, first restores the terminal, and then performs its
/// previous action.
enum FullScreen {
    /// Switches to the alternate screen without a cursor.
    private static let enter = "\u{1b}[?1049h\u{1b}[2J\u{1b}[H\u{1b}[?25l"
    /// Restores the previous screen.
    private static let leave = "\u{1b}[0m\u{1b}[?25h\u{1b}[?1049l"

    private static let signals = [
        SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE,
    ]

    /// The state for a signal handler, which must neither allocate nor wait for a lock.
    @unsafe private struct Rescue {
        var modes = termios()
        var text: UnsafeMutablePointer<UInt8>
        var count: Int
        /// The previous actions of the signals.
        var actions: UnsafeMutablePointer<sigaction>
    }

    /// Allocated once, before the first handler is set, and never freed.
    nonisolated(unsafe) private static let rescue = unsafe makeRescue()

    private static func makeRescue() -> UnsafeMutablePointer<Rescue> {
        let rescue = UnsafeMutablePointer<Rescue>.allocate(capacity: 1)
        let bytes = Array(self.leave.utf8)
        let text = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
        unsafe text.initialize(from: bytes, count: bytes.count)
        let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
        unsafe actions.initialize(repeating: sigaction(), count: 65)
        unsafe rescue.initialize(to: Rescue(text: text, count: bytes.count, actions: actions))
        return unsafe rescue
    }

    /// Runs code that draws on the whole terminal and receives each key immediately.
    @MainActor
    static func run(_ body: () async throws -> Void) async throws {
        let rescue = unsafe self.rescue
        // Only the main actor changes the state that the handlers read, and only while no handler is set.
        guard unsafe tcgetattr(0, &rescue.pointee.modes) == 0 else { throw FileError.last }
        for signal in self.signals { unsafe self.catchSignal(signal, rescue) }
        defer {
            unsafe self.restore(rescue)
            for signal in self.signals {
                _ = unsafe sigaction(signal, rescue.pointee.actions + Int(signal), nil)
            }
        }
        var raw = unsafe rescue.pointee.modes
        unsafe cfmakeraw(&raw)
        guard unsafe tcsetattr(0, TCSADRAIN, &raw) == 0 else { throw FileError.last }
        var output = FileOutput(1)
        output.bytes.append(contentsOf: self.enter.utf8)
        try output.flush()
        try await body()
    }

    private static func catchSignal(_ signal: Int32, _ rescue: UnsafeMutablePointer<Rescue>) {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { number in
            let rescue = unsafe FullScreen.rescue
            unsafe FullScreen.restore(rescue)
            // Perform the previous action of the signal. It ends the program, with a backtrace if one was
            // enabled.
            _ = unsafe sigaction(number, rescue.pointee.actions + Int(number), nil)
            raise(number)
            _ = Glibc.signal(number, SIG_DFL)
            raise(number)
        }
        action.sa_flags = SA_NODEFER
        _ = unsafe sigaction(signal, &action, rescue.pointee.actions + Int(signal))
    }

    /// Restores the terminal by system calls only.
    private static func restore(_ rescue: UnsafeMutablePointer<Rescue>) {
        _ = unsafe write(1, rescue.pointee.text, rescue.pointee.count)
        _ = unsafe tcsetattr(0, TCSANOW, &rescue.pointee.modes)
    }
}
