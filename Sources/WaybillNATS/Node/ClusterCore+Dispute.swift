internal import Logging
internal import WaybillEventLoop

/// A claim of somebody else about what a node shares.
struct Dispute: Equatable {
    /// The latest epoch that a node can have reached.
    var epoch: Int
}

extension ClusterCore {
    /// How soon a node says again what it shares: somebody else may speak in its name over and over.
    private static let disputeDelay = Duration.milliseconds(10)

    /// Receives an announcement that somebody else made in the name of this node, whose own messages do not come
    /// back to it.
    ///
    /// Other nodes may have believed it, so this node announces its state once more, with a later epoch.
    func noteForged(_ announcement: Announcement) {
        guard self.isMember else { return }
        if self.disputeLoggedAt.map({ self.now - $0 > .seconds(1) }) ?? true {
            self.disputeLoggedAt = self.now
            self.configuration.logger.warning(
                "somebody else uses the ID of this node, which says again what it shares",
                metadata: [
                    "id": "\(self.id)", "kind": "\(announcement.kind)", "epoch": "\(announcement.epoch)",
                ]
            )
        }
        // The others do not believe an epoch that is too late for this node.
        let isPossible = announcement.epoch - self.offer.epoch <= ClusterState.Member.epochAllowance
        let epoch = isPossible ? announcement.epoch : 0
        let claimed = self.dispute
        self.dispute = Dispute(epoch: max(claimed?.epoch ?? 0, epoch))
        guard claimed == nil else { return }
        let deadline = Deadline(after: Self.disputeDelay, by: self.eventLoop.time)
        self.eventLoop.schedule(at: deadline) { [weak self] in
            self?.assumeOnLoop { $0.settleDispute() }
        }
    }

    private func settleDispute() {
        guard let dispute = self.dispute.take(), self.isMember else { return }
        self.offer.epoch = max(self.offer.epoch, dispute.epoch) + 1
        self.announce(.state)
    }
}
