/// A set of subjects with wildcards, which can be replaced by subjects that do not overlap.
///
/// A server delivers a message once for each subscription that matches, so a node whose subscriptions overlap
/// would receive the message several times.
struct SubjectCover {
    /// The subjects by their first tokens; the key `*` contains the subjects that begin with this wildcard.
    private var branches: [Substring: SubjectCover] = [:]
    /// Whether a subject ends here.
    private var isEnd = false
    /// Whether a subject ends here with the wildcard `>`, which matches one or more tokens.
    private var isOpen = false

    private init() {}

    init(_ subjects: some Sequence<String>) {
        for subject in subjects { self.insert(subject.split(separator: ".")[...]) }
        self.merge()
    }

    /// Subjects that do not overlap, and that together match the messages of all subjects of the set.
    ///
    /// They can match more messages if two subjects of the set overlap and neither covers the other.
    var subjects: [String] {
        (self.isEnd ? [""] : []) + (self.isOpen ? [">"] : [])
            + self.branches.flatMap { token, branch in
                branch.subjects.map { $0.isEmpty ? String(token) : "\(token).\($0)" }
            }
    }

    private mutating func insert(_ tokens: ArraySlice<Substring>) {
        switch tokens.first {
        case nil: self.isEnd = true
        case ">": self.isOpen = true
        case let token?: self.branches[token, default: Self()].insert(tokens.dropFirst())
        }
    }

    private var isEmpty: Bool { !self.isEnd && !self.isOpen && self.branches.isEmpty }

    /// Merges the branches that overlap.
    private mutating func merge() {
        if self.isOpen { self.branches = [:] }
        var star = self.branches.removeValue(forKey: "*")
        self.branches = self.branches.mapValues { $0.merged }
        while let wide = star?.merged {
            star = wide
            self.branches = self.branches.mapValues { $0.without(wide) }.filter { !$1.isEmpty }
            let overlapping = self.branches.filter { $1.overlaps(wide) }
            if overlapping.isEmpty { break }
            for (token, branch) in overlapping {
                self.branches[token] = nil
                star?.insert(branch)
            }
        }
        self.branches["*"] = star
    }

    private var merged: Self {
        var copy = self
        copy.merge()
        return copy
    }

    /// Returns the set without the subjects that a subject of the other set covers.
    private func without(_ other: Self) -> Self {
        var rest = self
        rest.isEnd = self.isEnd && !other.isEnd
        rest.isOpen = self.isOpen && !other.isOpen
        if other.isOpen { rest.branches = [:] }
        for token in Array(rest.branches.keys) {
            for covering in [token, "*"] {
                if let branch = other.branches[covering] {
                    rest.branches[token] = rest.branches[token]?.without(branch)
                }
            }
        }
        rest.branches = rest.branches.filter { !$1.isEmpty }
        return rest
    }

    private mutating func insert(_ other: Self) {
        self.isEnd = self.isEnd || other.isEnd
        self.isOpen = self.isOpen || other.isOpen
        self.branches.merge(other.branches) { own, other in
            var both = own
            both.insert(other)
            return both
        }
    }

    /// Returns whether a message can match a subject of this set and a subject of the other set.
    private func overlaps(_ other: Self) -> Bool {
        if self.isEnd && other.isEnd || self.isOpen && other.isOpen { return true }
        if self.isOpen && !other.branches.isEmpty || other.isOpen && !self.branches.isEmpty { return true }
        return self.branches.contains { token, branch in
            if token == "*" { return other.branches.values.contains { $0.overlaps(branch) } }
            return [token, "*"].contains { other.branches[$0].map { $0.overlaps(branch) } ?? false }
        }
    }
}
