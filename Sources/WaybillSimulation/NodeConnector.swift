internal import Waybill
internal import WaybillRouting

/// The connector of a node's bus to the other nodes of its world.
struct NodeConnector: Cluster {
    let network: Network
    /// The node, or nil for the clients.
    let node: Int?

    nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
        try await self.network.route(message, from: self.node)
    }

    func canRoute(_ address: Address) -> Bool { self.network.canRoute(address.text, from: self.node) }

    func suggestions(for address: Address) -> [String] { [] }

    func publish(_ message: Message) -> Bool { self.network.publish(message, from: self.node) }

    var view: ClusterView {
        ClusterView(
            realm: "simulation",
            own: ClusterView.Member(name: "", id: "", patterns: [], silence: .zero, isLeaving: false),
            others: []
        )
    }
}
