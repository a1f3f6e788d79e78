/// Where the best match is not the first one that the walk finds, it goes on and keeps the best so far.
extension TableBox {
    struct Best {
        let leaf: UInt32
        let captures: [URLRange]
    }

    @inline(never)
    func consider(_ candidate: UInt32, _ walk: inout some Walk & ~Copyable, _ best: inout Best?) {
        if let rival = best?.leaf {
            let (new, old) = (self.core.leaves[Int(candidate)], self.core.leaves[Int(rival)])
            let isBetter =
                self.core.rules.conventions.bestMatch == .firstRegistered
                ? new.generation < old.generation : new.literals > old.literals
            guard isBetter else { return }
        }
        var captures: [URLRange] = []
        for index in 0..<walk.captured { captures.append(walk.capture(at: index)) }
        best = Best(leaf: candidate, captures: captures)
    }

    @inline(never)
    func finish(_ walk: inout some Walk & ~Copyable, _ best: Best?) -> UInt32 {
        guard let best else { return TableCore.none }
        walk.forgetCaptures(behind: 0)
        for range in best.captures { walk.capture(range) }
        return best.leaf
    }
}
