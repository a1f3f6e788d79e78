#if Tool
internal import ArgumentParser
internal import WaybillEventLoop
internal import WaybillServe

/// The command that measures how fast a running program replies.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Calls a URL many times over one connection, and prints how long the replies took.",
        discussion: """
            The command first makes a tenth as many calls without measuring them. If a call fails, the exit status is \
            the exit status of `waybill call`.

            EXAMPLES:
              waybill bench app://catalog/categories --connect shop.sock
              waybill bench app://catalog/categories --connect shop.sock --requests 100000 --in-flight 64
            """
    )

    /// The maximum number of calls in flight, each of which needs memory for its task.
    private static let maximumInFlight = 65_536

    @Argument(help: "The URL to call. Quote a URL that contains ? or &.")
    var url: String

    @OptionGroup var connection: ConnectionOptions

    @Option(help: "The parameters of each call, as a JSON object or array.")
    var json = "{}"

    @Option(help: "The number of calls.")
    var requests = 10_000

    @Option(help: "The number of calls in flight at the same time, from 1 to \(Self.maximumInFlight).")
    var inFlight = 1

    @Flag(help: "Prints one line of JSON, with times in microseconds.")
    var machine = false

    func validate() throws {
        _ = try self.connection.address
        guard self.requests > 0, (1...Self.maximumInFlight).contains(self.inFlight) else {
            throw ValidationError(
                "--requests must be at least 1, and --in-flight from 1 to \(Self.maximumInFlight)."
            )
        }
    }

    func run() async throws {
        let client = try self.connection.client()
        defer { client.close() }
        var options = RPCRequestOptions()
        options.parameters = self.json
        let load = BenchLoad(url: self.url, options: options, inFlight: self.inFlight)
        try await self.connection.report {
            // Make one request first. If the URL is wrong, this request fails before many calls fail for the
            // same reason.
            _ = try await client.request(self.url, options)
            if let failure = try await load.run(self.requests / 10, on: client).firstFailure { throw failure }
            let report = try await load.run(self.requests, on: client)
            if self.machine {
                try Output.write(json: report.json)
            } else {
                try Output.write(report.lines.map { $0 + "\n" }.joined())
            }
            if let failure = report.firstFailure { throw failure }
        }
    }
}
#endif
