internal import Waybill
internal import WaybillEventLoop
internal import WaybillRouting

/// The connector of a node, which sends the messages that no route of this process matches to other nodes.
///
/// The bus calls ``canRoute(_:)`` and ``suggestions(for:)`` while it holds locks, so these methods only read
/// the patterns of other nodes.
struct ClusterConnector: Cluster {
    private let core: ClusterCore

    init(_ core: ClusterCore) { self.core = core }

    nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
        try await self.core.route(message)
    }

    func canRoute(_ address: Address) -> Bool {
        self.core.state.withLock { $0.shape(for: address.completeURL) != nil }
    }

    func suggestions(for address: Address) -> [String] {
        self.core.state.withLock { $0.suggestions(for: address.completeURL) }
    }

    func publish(_ message: Message) -> Bool {
        guard self.core.state.withLock({ $0.hasSubscribers(of: message.address.completeURL) }) else {
            return false
        }
        if self.core.eventLoop.isInEventLoop {
            self.core.assumeOnLoop { $0.publish(message) }
        } else {
            self.core.eventLoop.execute { self.core.assumeOnLoop { $0.publish(message) } }
        }
        return true
    }

    var view: ClusterView {
        let (members, leaving) = self.core.state.withLock { ($0.members.values, $0.leaving.values) }
        let others =
            members.map { self.view(of: $0, isLeaving: false) }
            + leaving.map { self.view(of: $0, isLeaving: true) }
        return ClusterView(
            realm: self.core.realm,
            own: ClusterView.Member(
                name: self.core.configuration.name,
                id: self.core.id.description,
                patterns: self.core.bus.exposedRoutes(to: .nodes).map { self.core.bus.withScheme($0.pattern) }
                    .sorted(),
                silence: .zero,
                isLeaving: false
            ),
            others: others.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
        )
    }

    private func view(of member: ClusterState.Member, isLeaving: Bool) -> ClusterView.Member {
        ClusterView.Member(
            name: member.name,
            id: member.id.description,
            patterns: member.routes.sorted(),
            silence: max(.zero, self.core.now - member.lastHeard),
            isLeaving: isLeaving
        )
    }
}
