/// Where the best match is not the first one that the walk finds, it goes on and keeps the best so far.
extension TableCore {
    struct Best {
        var leaf = TableCore.none
        var captures = Captures()
    }

    @inline(never)
    func consider(_ candidate: UInt32, _ captures: Captures, _ best: inout Best) {
        if best.leaf != Self.none {
            let (new, old) = (self.leaves[Int(candidate)], self.leaves[Int(best.leaf)])
            let isBetter =
                self.rules.conventions.bestMatch == .firstRegistered
                ? new.generation < old.generation : new.literals > old.literals
            guard isBetter else { return }
        }
        best.leaf = candidate
        best.captures = captures
    }

    @inline(never)
    func finish(_ walk: inout Walk, _ best: Best) -> UInt32 {
        if best.leaf != Self.none { walk.captures = best.captures }
        return best.leaf
    }
}
