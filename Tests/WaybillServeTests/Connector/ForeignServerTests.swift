import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@testable import WaybillServe

/// The Python environment that `.ci/clients` creates, with packages from PyPI.
private enum ForeignPython {
    static let root = #filePath.components(separatedBy: "/Tests/")[0]
    static let path = root + "/.build/clients/bin/python"

    static var isInstalled: Bool {
        let environment = URL(filePath: Self.root + "/.build/clients/lib")
        let versions = try? FileManager.default.contentsOfDirectory(atPath: environment.path)
        return (versions ?? []).contains { version in
            let package = environment.appending(path: "\(version)/site-packages/jsonrpcserver")
            return FileManager.default.fileExists(atPath: package.path)
        }
    }
}

/// A server that is independent of this project, written with jsonrpcserver for Python, behind a connector.
// The test does not run with sanitizers, because Foundation leaks a few objects with each killed child
// process.
@Suite(
    .timeLimit(.minutes(1)),
    .enabled(if: ForeignPython.isInstalled && !Scale.isSanitized, "`.ci/clients` installs it")
)
struct ForeignServerTests {
    @Test
    func `a connector calls the methods of a Python server, whose errors are a bus's errors`() async throws {
        try await withFolder { folder in
            let process = Process()
            process.executableURL = URL(filePath: ForeignPython.path)
            process.arguments = ["-B", ForeignPython.root + "/Tests/Clients/server.py", folder + "/socket"]
            process.standardError = FileHandle.nullDevice
            let (ended, end) = AsyncStream.makeStream(of: Void.self)
            process.terminationHandler = { _ in end.finish() }
            try process.run()
            // SIGTERM would have no effect, because a child inherits the signal mask of the thread that
            // starts it, and threads of tasks block it.
            defer { kill(process.processIdentifier, SIGKILL) }
            let bus = MessageBus(configuration: .quiet)
            try bus.connect("py", to: RPCConnector(.unix(folder + "/socket"), configuration: .quiet))
            // The first attempts may be made before the server listens.
            let isThere = await eventually { (try? await bus.route("py://ping", as: String.self)) == "pong" }
            #expect(isThere)
            #expect(try await bus.route("py://sum", parameters: ["a": 40, "b": 2], as: Int.self) == 42)
            let sums = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let sum: Int = try await bus.route("py://sum", parameters: ["a": number, "b": 1])
                        return sum == number + 1
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(sums.count == 100 && sums.allSatisfy { $0 })
            let failed = await failure { try await bus.route("py://fails") }
            #expect(failed?.code == .handlerFailed && failed?.message.contains("no kettle") == true)
            let missing = await failure { try await bus.route("py://nothing") }
            #expect(missing?.code == .noRoute && missing?.url == "py://nothing")
            kill(process.processIdentifier, SIGKILL)
            for await _ in ended {}
            let gone = await failure { try await bus.route("py://ping") }
            #expect(gone?.code == .unreachable)
            await bus.shutDown()
        }
    }
}
