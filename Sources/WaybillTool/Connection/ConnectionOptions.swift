#if Tool
internal import ArgumentParser
internal import Foundation
internal import Logging
internal import WaybillServe

/// The options that select the server to which a command connects.
struct ConnectionOptions: ParsableArguments {
    /// The environment variable with the token, which other users could see in a process's arguments.
    static let tokenVariable = "WAYBILL_TOKEN"

    @Option(
        help: ArgumentHelp(
            "The address of the program: the path of its Unix socket, or HOST:PORT.",
            valueName: "address"
        )
    )
    var connect: ServerAddress?

    @Option(
        help:
            "A file with the token of the program. Without this option, the token is in the environment variable \(Self.tokenVariable)."
    )
    var tokenFile: String?

    @Option(help: "The longest time to wait for the connection, such as 500ms or 2s. (default: 5s)")
    var connectTimeout: TimeSpan?

    /// The server's address, for a command that requires one.
    var address: ServerAddress {
        get throws {
            if let connect { return connect }
            throw ValidationError("Missing expected argument '--connect <address>'")
        }
    }

    /// Creates a client, which does not connect to the server yet.
    func client() throws -> RPCClient {
        let address = try self.address
        var configuration = RPCConnector.Configuration()
        configuration.token = try self.token
        // Only the server knows its limit, and closes the connection if a message exceeds it.
        configuration.requestSize = .max
        if let limit = self.connectTimeout { configuration.connectTimeout = limit.duration }
        // The command reports failures on standard error, so the client does not log them again.
        configuration.logger = Logger(label: "waybill") { _ in SwiftLogNoOpLogHandler() }
        return RPCClient(address.value, configuration)
    }

    private var token: String? {
        get throws {
            guard let file = self.tokenFile else {
                return ProcessInfo.processInfo.environment[Self.tokenVariable]
            }
            return try Output.text(ofFile: file).trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    /// Runs requests; after a failure, writes a line to standard error and throws the exit status.
    func report<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await RequestFailure.report(try .server(self.address), body)
    }
}
#endif
