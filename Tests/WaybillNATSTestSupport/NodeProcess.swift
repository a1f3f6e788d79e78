#if NATS
internal import Foundation
internal import WaybillTestSupport

/// A node in a separate process: Tests/ClusterProgram, which is built beside the tests.
package final class NodeProcess {
    /// The program has not joined the cluster.
    package struct NotJoined: Error {}

    package let name: String
    private let process = Process()

    /// Starts a node, and waits until it has joined.
    package init(_ name: String, at server: String) async throws {
        self.name = name
        self.process.executableURL = URL(filePath: CommandLine.arguments[0])
            .deletingLastPathComponent().appending(path: "ClusterProgram")
        self.process.arguments = [name, server]
        // A crash of a node prints its backtrace.
        var environment = ProcessInfo.processInfo.environment
        environment["SWIFT_BACKTRACE"] = "enable=yes,color=no,interactive=no"
        self.process.environment = environment
        let output = Pipe()
        self.process.standardOutput = output
        let hasJoined = Gate()
        output.fileHandleForReading.readabilityHandler = { handle in
            handle.readabilityHandler = nil
            if !handle.availableData.isEmpty { hasJoined.reach() }
        }
        try self.process.run()
        guard await eventually({ hasJoined.isReached }) else { throw NotJoined() }
    }

    deinit { self.kill() }

    /// Kills the process, as the system does when it has no free memory.
    package func kill() {
        if self.process.isRunning { Foundation.kill(self.process.processIdentifier, SIGKILL) }
    }

    /// Makes the node leave the cluster, and waits for the end of its process.
    ///
    /// - Returns: The way in which the process ended: "exit 0" if it left normally.
    package func leave() async -> String {
        self.process.terminate()
        guard await eventually({ !self.process.isRunning }) else { return "still running" }
        let cause = self.process.terminationReason == .exit ? "exit" : "signal"
        return "\(cause) \(self.process.terminationStatus)"
    }
}
#endif
