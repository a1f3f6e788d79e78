internal import DequeModule
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// A sender's wait for a place in a full mailbox.
///
/// It ends with whether there is one; if not, there is something else to see.
typealias Place = Pause<Bool>

// A mailbox that suspends its senders gives its places away in the order of arrival.
extension Mailbox {
    /// What a message counts in such a mailbox that takes up no place: its caller is suspended as it is, and keeps it.
    ///
    /// However many such callers there are, they leave the places to those who have no other.
    private static let visitor = 1 << 32

    /// How many places are taken, according to ``waiting``.
    @inline(__always)
    static func places(_ waiting: Int) -> Int { waiting & (Self.visitor - 1) }

    nonisolated func visit() { self.waiting.add(Self.visitor, ordering: .relaxed) }

    /// Takes an awaited message out of the queue, since it is started.
    func leaveQueue() {
        if self.whenFull == .suspend {
            self.waiting.subtract(Self.visitor, ordering: .relaxed)
        } else {
            self.freePlace()
        }
    }

    /// The same for one that is not going to be started.
    func giveUpQueue() {
        self.leaveQueue()
        self.dropOneLess()
    }

    /// Gives a message that was awaited in line the place of the one in progress.
    func stay() {
        if self.whenFull == .suspend { self.waiting.subtract(Self.visitor - 1, ordering: .relaxed) }
    }

    /// A message has gone by itself, and made the room for which another would have been dropped.
    func dropOneLess() {
        guard self.excess.load(ordering: .relaxed) > 0 else { return }
        self.excess.subtract(1, ordering: .relaxed)
    }

    /// Takes a place, if there is one.
    ///
    /// It is never taken on trial: whoever gives places away at that moment would think that there is none.
    nonisolated func takePlace() -> Bool {
        var waiting = self.waiting.load(ordering: .sequentiallyConsistent)
        while Self.places(waiting) < self.capacity {
            let (isTaken, seen) = self.waiting.weakCompareExchange(
                expected: waiting,
                desired: waiting + 1,
                ordering: .sequentiallyConsistent
            )
            if isTaken { return true }
            waiting = seen
        }
        return false
    }

    /// Gives a place back that a message was too many for; it may have hidden the one that somebody waits for.
    nonisolated func giveBackPlace() {
        self.waiting.subtract(1, ordering: .sequentiallyConsistent)
        guard self.sendersWaiting.load(ordering: .sequentiallyConsistent) > 0 else { return }
        // One look is enough for all who have given places back before it.
        guard !self.isLookedAfter.exchange(true, ordering: .sequentiallyConsistent) else { return }
        self.eventLoop.execute {
            self.assumeOnLoop { mailbox in
                mailbox.isLookedAfter.store(false, ordering: .sequentiallyConsistent)
                mailbox.passPlaceOn()
            }
        }
    }

    /// Takes a place, unless somebody else waits for one.
    ///
    /// Or a sender that is quick enough would take every place that becomes free, and those who wait none.
    nonisolated func takePlaceInTurn() -> Bool {
        self.sendersWaiting.load(ordering: .relaxed) == 0 && self.takePlace()
    }

    /// Waits for a place.
    ///
    /// - Parameters:
    ///   - core: the bus of the sender.
    ///   - due: when it stops waiting.
    /// - Returns: whether there is one; if not, the sender has been cancelled, its time is up, or it should look whether its
    ///   handler is still there.
    func waitForPlace(_ core: BusCore, until due: Deadline) async -> Bool {
        if self.places.isEmpty, self.takePlace() { return true }
        let place = Place(on: self.eventLoop)
        let watch: DeadlineWatch? =
            due.exists
            ? DeadlineWatch(due, by: core.time, on: self.eventLoop) { self.giveUpLater(place) } : nil
        defer { watch?.cancel() }
        return await place.wait(isolation: self) {
            self.places.append(place)
        } onCancel: {
            self.giveUpLater(place)
        }
    }

    private nonisolated func giveUpLater(_ place: Place) {
        self.eventLoop.execute { self.assumeOnLoop { $0.giveUp(place) } }
    }

    private func giveUp(_ place: Place) {
        guard let index = self.places.firstIndex(where: { $0 === place }) else { return }
        self.places.remove(at: index).resume(returning: false)
    }

    /// Gives the place of a message that is started to who waits first for one.
    @inline(__always)
    func freePlace() {
        self.waiting.subtract(1, ordering: .relaxed)
        if self.whenFull == .suspend { self.passPlaceOn() }
    }

    private func passPlaceOn() {
        while !self.places.isEmpty, self.takePlace() {
            self.places.removeFirst().resume(returning: true)
        }
    }

    /// Has everybody look whether their handlers are still there.
    func recheckPlaces() {
        let waiting = self.places
        self.places = []
        for place in waiting { place.resume(returning: false) }
    }
}
