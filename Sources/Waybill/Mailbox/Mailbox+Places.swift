internal import DequeModule
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// Somebody who waits for a place in a full mailbox.
struct Place {
    let number: Int
    /// Ends with whether there is a place; if not, there is something else to see.
    let pause: Pause<Bool>
}

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

    /// Takes an awaited message out of the queue.
    func leaveQueue() {
        if self.whenFull == .suspend {
            self.waiting.subtract(Self.visitor, ordering: .relaxed)
        } else {
            self.freePlace()
        }
    }

    /// Gives a message that was awaited in line the place of the one in progress.
    func stay() {
        if self.whenFull == .suspend { self.waiting.subtract(Self.visitor - 1, ordering: .relaxed) }
    }

    /// Takes a place, if there is one.
    nonisolated func takePlace() -> Bool {
        if Self.places(self.waiting.add(1, ordering: .relaxed).newValue) <= self.capacity { return true }
        self.waiting.subtract(1, ordering: .relaxed)
        return false
    }

    /// Takes a place, unless somebody else waits for one.
    ///
    /// Or a sender that is quick enough would take every place that becomes free, and those who wait none.
    nonisolated func takePlaceInTurn() -> Bool {
        self.sendersWaiting.load(ordering: .relaxed) == 0 && self.takePlace()
    }

    /// Waits for a place.
    ///
    /// - Returns: whether there is one; if not, the sender has been cancelled, or should look whether its handler is still
    ///   there.
    func waitForPlace() async -> Bool {
        if self.places.isEmpty, self.takePlace() { return true }
        self.lastPlace += 1
        let number = self.lastPlace
        return await withTaskCancellationHandler {
            if Task.isCancelled { return false }
            let pause = Pause<Bool>(on: self.eventLoop)
            self.places.append(Place(number: number, pause: pause))
            return await pause.wait()
        } onCancel: {
            self.eventLoop.execute { self.assumeOnLoop { $0.giveUp(number) } }
        }
    }

    private func giveUp(_ number: Int) {
        guard let index = self.places.firstIndex(where: { $0.number == number }) else { return }
        self.places.remove(at: index).pause.resume(returning: false)
    }

    /// Gives the place of a message that is started to who waits first for one.
    @inline(__always)
    func freePlace() {
        self.waiting.subtract(1, ordering: .relaxed)
        if self.whenFull == .suspend { self.passPlaceOn() }
    }

    private func passPlaceOn() {
        while !self.places.isEmpty, self.takePlace() {
            self.places.removeFirst().pause.resume(returning: true)
        }
    }

    /// Has everybody look whether their handlers are still there.
    func recheckPlaces() {
        let waiting = self.places
        self.places = []
        for place in waiting { place.pause.resume(returning: false) }
    }
}
