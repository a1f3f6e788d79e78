#if Tool && NATS
internal import ArgumentParser
internal import Waybill
internal import WaybillNATS

/// The command that lists the nodes of a cluster.
struct NodesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nodes",
        abstract: "Lists the nodes of a cluster, and the routes that each of them shares.",
        discussion: """
            The command prints each shared pattern on its own line. A line that begins with `publish` is a pattern \
            whose published messages the node receives.

            The exit status is 0, 69 if no server can be reached, or 77 if the server rejects the client.

            EXAMPLE:
              waybill nodes --nats nats://127.0.0.1:4222 --realm shop
            """
    )

    @OptionGroup var cluster: ClusterOptions

    func validate() throws { _ = try self.cluster.place }

    func run() async throws {
        try await self.cluster.withNode { _, node in
            for member in node.members {
                try Output.write(Output.printable("\(member.name) (\(member.id))") + "\n")
                for route in member.routes { try Output.write("  \(Output.printable(route))\n") }
                for topic in member.topics { try Output.write("  publish \(Output.printable(topic))\n") }
            }
        }
    }
}
#endif
