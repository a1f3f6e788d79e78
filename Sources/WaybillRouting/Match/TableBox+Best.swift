/// Where the best match is not the first one that the walk finds, it goes on and keeps the best so far.
extension TableBox {
    @inline(never)
    func consider(_ candidate: UInt32, _ walk: inout some Walk & ~Copyable) {
        if walk.keep(candidate) { return }
        if let rival = walk.best?.leaf {
            let (new, old) = (self.core.leaves[Int(candidate)], self.core.leaves[Int(rival)])
            let isBetter =
                self.core.rules.conventions.bestMatch == .firstRegistered
                ? new.generation < old.generation : new.literals > old.literals
            guard isBetter else { return }
        }
        var captures: [URLRange] = []
        for index in 0..<walk.captured { captures.append(walk.capture(at: index)) }
        walk.best = WalkBest(leaf: candidate, captures: captures)
    }

    /// The best leaf that was considered, with its captures.
    @inline(never)
    func finish(_ walk: inout some Walk & ~Copyable) -> UInt32 {
        guard let best = walk.best else { return TableCore.none }
        walk.forgetCaptures(behind: 0)
        for range in best.captures { walk.capture(range) }
        return best.leaf
    }
}
