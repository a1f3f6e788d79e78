#if os(Linux)
import Foundation
import Testing

/// A separate program runs the test, because tests do not have the main thread.
@Suite(.timeLimit(.minutes(1)))
struct MainActorTests {
    /// Returns the output of Tests/MainActorProgram, which is built beside the tests.
    private func run() throws -> (status: Int32, lines: [Substring]) {
        let program = Process()
        program.executableURL = URL(filePath: CommandLine.arguments[0])
            .deletingLastPathComponent().appending(path: "MainActorProgram")
        let pipe = Pipe()
        program.standardOutput = pipe
        try program.run()
        let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
        program.waitUntilExit()
        return (program.terminationStatus, String(decoding: bytes, as: UTF8.self).split(separator: "\n"))
    }

    @Test
    func `the main actor and the modules of a bus share the main thread`() throws {
        let (status, lines) = try self.run()
        #expect(status == 0)
        #if Macros
        let service: [Substring] = ["it is 9 o'clock"]
        #else
        let service: [Substring] = []
        #endif
        #expect(
            lines == ["a is window 1", "b is window 2", "c is window 3"] + service
                + ["a timer of the loop fired", "the windows are abc", "ended"]
        )
    }
}
#endif
