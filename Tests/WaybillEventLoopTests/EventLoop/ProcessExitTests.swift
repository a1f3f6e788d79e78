import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ProcessExitTests {
    @Test(arguments: [[], ["--dropping-loop"]])
    func `a process exits cleanly although its loop still releases signal handlers`(
        arguments: [String]
    ) throws {
        // Tests cannot end their process, so a separate program does.
        let program = Process()
        program.executableURL = URL(filePath: CommandLine.arguments[0])
            .deletingLastPathComponent().appending(path: "ExitProgram")
        program.arguments = arguments
        try program.run()
        program.waitUntilExit()
        #expect(program.terminationReason == .exit)
        #expect(program.terminationStatus == 0)
    }
}
