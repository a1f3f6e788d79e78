/// Where a handler waits until a test lets it go on.
actor Gate {
    private var isOpen = false
    private var hasArrived = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Waits until the gate is open.
    func pass() async {
        self.arrive()
        while !self.isOpen { await withCheckedContinuation { self.waiting.append($0) } }
    }

    /// Says that somebody is at the gate.
    func arrive() {
        self.hasArrived = true
        self.wakeAll()
    }

    /// Waits until somebody is at the gate.
    func reached() async {
        while !self.hasArrived { await withCheckedContinuation { self.waiting.append($0) } }
    }

    func open() {
        self.isOpen = true
        self.wakeAll()
    }

    private func wakeAll() {
        for continuation in self.waiting { continuation.resume() }
        self.waiting = []
    }
}
