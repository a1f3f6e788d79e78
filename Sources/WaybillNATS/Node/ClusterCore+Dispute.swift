internal import Logging
internal import WaybillEventLoop

/// The correction of an announcement that another party made in the name of this node.
struct Dispute: Equatable {
    /// The latest epoch that was announced by the other party and that this node can have reached.
    var epoch: Int
}

/// The limit on how far the epoch of a node follows the epochs that other parties announce in its name.
///
/// Other nodes accept an epoch that has grown by at most one in each millisecond, plus
/// ``ClusterState/Member/epochAllowance``. This limit allows half of that growth, so other nodes always
/// accept the epoch of this node.
struct EpochBudget {
    private static let perMillisecond = 0.5
    private static let most = Double(ClusterState.Member.epochAllowance) / 2

    private var left = Self.most
    private var filledAt: ContinuousClock.Instant?

    /// Returns the amount by which the epoch may grow now.
    mutating func allowance(at now: ContinuousClock.Instant) -> Int {
        if let filledAt {
            self.left = min(Self.most, self.left + (now - filledAt) / .milliseconds(1) * Self.perMillisecond)
        }
        self.filledAt = now
        return Int(self.left)
    }

    /// Records that the epoch has grown.
    mutating func spend(_ growth: Int) { self.left -= Double(growth) }
}

extension ClusterCore {
    /// The delay before a node announces its state again.
    ///
    /// Another party may send forged announcements over and over, and one correction answers all of them.
    private static let disputeDelay = Duration.milliseconds(10)

    /// Handles an announcement that another party made in the name of this node.
    ///
    /// The transport does not return this node's own messages, so the announcement is forged. Other nodes may
    /// have accepted the announcement. This node therefore announces its state again, with a later epoch.
    func noteForged(_ announcement: Announcement) {
        guard self.isMember else { return }
        if self.disputeLoggedAt.map({ self.now - $0 > .seconds(1) }) ?? true {
            self.disputeLoggedAt = self.now
            self.configuration.logger.warning(
                "another sender uses the ID of this node; announced the shared routes again",
                metadata: [
                    "id": "\(self.id)", "kind": "\(announcement.kind)", "epoch": "\(announcement.epoch)",
                ]
            )
        }
        // Other nodes reject an epoch that this node cannot have reached.
        let allowance = self.epochBudget.allowance(at: self.now)
        let isPossible = announcement.epoch - self.offer.epoch < allowance
        let epoch = isPossible ? announcement.epoch : 0
        let earlier = self.dispute
        self.dispute = Dispute(epoch: max(earlier?.epoch ?? 0, epoch))
        guard earlier == nil else { return }
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
