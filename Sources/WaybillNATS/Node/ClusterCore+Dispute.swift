internal import Logging
internal import WaybillEventLoop

/// A claim of somebody else about what a node shares.
struct Dispute: Equatable {
    /// The latest epoch that a node can have reached.
    var epoch: Int
}

/// How far a node follows the epochs that others claim for it.
///
/// Other nodes believe an epoch that has grown by one a millisecond, and ``ClusterState/Member/epochAllowance``
/// more. A node that follows at half of that speed is always believed.
struct EpochBudget {
    private static let perMillisecond = 0.5
    private static let most = Double(ClusterState.Member.epochAllowance) / 2

    private var left = Self.most
    private var filledAt: ContinuousClock.Instant?

    /// How far the epoch may grow now.
    mutating func allowance(at now: ContinuousClock.Instant) -> Int {
        if let filledAt {
            self.left = min(Self.most, self.left + (now - filledAt) / .milliseconds(1) * Self.perMillisecond)
        }
        self.filledAt = now
        return Int(self.left)
    }

    /// Notes that the epoch has grown.
    mutating func spend(_ growth: Int) { self.left -= Double(growth) }
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
        let allowance = self.epochBudget.allowance(at: self.now)
        let isPossible = announcement.epoch - self.offer.epoch < allowance
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
        let epoch = max(self.offer.epoch, dispute.epoch) + 1
        self.epochBudget.spend(epoch - self.offer.epoch)
        self.offer.epoch = epoch
        self.announce(.state)
    }
}
