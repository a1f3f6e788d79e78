#if Tool
import ArgumentParser
import Foundation
import Testing

@testable import WaybillCommands

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite struct StandardOutputTests {
    #if os(Linux)
    @Test func `a full disk is reported with the words of the system`() throws {
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let error = #expect(throws: (any Error).self) { try StandardOutput.write("text", to: full) }
        #expect(error is ExitCode == false)
        #expect(error?.fileReason.contains("No space left on device") == true)
    }
    #endif

    @Test func `a closed pipe ends the command without a message`() throws {
        signal(SIGPIPE, SIG_IGN)
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        #expect(throws: ExitCode.failure) { try StandardOutput.write("text", to: pipe.fileHandleForWriting) }
    }

    @Test func `a folder in place of a file is named as the reason`() throws {
        let error = #expect(throws: (any Error).self) {
            _ = try FileHandle(forReadingFrom: FileManager.default.temporaryDirectory).readToEnd()
        }
        #expect(error?.fileReason.contains("Is a directory") == true)
    }
}
#endif
