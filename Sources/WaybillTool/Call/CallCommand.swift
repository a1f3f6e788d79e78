#if Tool
internal import ArgumentParser
internal import WaybillServe

/// The command that calls a URL of a program that serves its bus, or of a cluster.
struct CallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Calls a URL of a running program, or of a cluster, and prints the reply as JSON.",
        discussion: """
            The program must serve its bus with WaybillServe and expose the URL. In a cluster on NATS, a node that \
            shares the URL handles the call. An interrupt (Ctrl-C) cancels the handler.

            The exit status is 0 for a reply, 69 if the server cannot be reached, 77 if the server, a handler or a \
            middleware rejects the message (the error is `refused`), 124 if the deadline has passed, and 1 for every \
            other error.

            EXAMPLES:
              waybill call 'app://catalog/search?q=kettle' --connect shop.sock
              waybill call 'app://catalog/search?q=kettle' --nats nats://127.0.0.1:4222 --realm shop
              waybill call app://payments/pay --connect shop.sock --json '{"order": 1}' --stream --answer '"confirm"'
            """
    )

    @Argument(help: "The URL to call. Quote a URL that contains ? or &.")
    var url: String

    @OptionGroup var peer: PeerOptions

    @Option(help: "The parameters, as a JSON object or array.")
    var json = "{}"

    @Option(help: "The longest time to wait for the reply, such as 500ms or 2s.")
    var deadline: TimeSpan?

    @Option(help: "A header of the message, as NAME=VALUE. Repeat the option for more headers.")
    var header: [String] = []

    @Flag(help: "Prints each progress reply on a line when it arrives. The last line is the final reply.")
    var stream = false

    @Option(help: "The answer that the command sends to each progress reply, as JSON.")
    var answer: String?

    func options() throws -> RPCRequestOptions {
        var options = RPCRequestOptions()
        options.parameters = self.json
        options.timeLeft = self.deadline?.duration
        for header in self.header {
            guard let equals = header.utf8.firstIndex(of: UInt8(ascii: "=")), equals != header.startIndex
            else {
                throw ValidationError("A header must be NAME=VALUE, not \(header).")
            }
            options.headers[String(header[..<equals])] = String(header[header.utf8.index(after: equals)...])
        }
        if self.stream || self.answer != nil {
            let (isShown, answer) = (self.stream, self.answer ?? "null")
            options.progress = { value in
                if isShown { try Output.write(json: value) }
                return answer
            }
        }
        return options
    }

    func validate() throws {
        _ = try self.options()
        // A handler must not begin before the command notices that its answer is not JSON.
        for (name, text) in [("--json", self.json), ("--answer", self.answer ?? "null")] {
            do throws(RPCRequestError) {
                _ = try RPCRequestOptions.json(text, name)
            } catch {
                throw ValidationError("\(error.message). A text in JSON has quotation marks: '\"text\"'.")
            }
        }
    }

    func run() async throws {
        try await self.peer.withPeer { peer in
            try Output.write(json: try await peer.request(self.url, self.options()))
        }
    }
}
#endif
