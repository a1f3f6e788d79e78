extension TableCore {
    /// Adds a pattern, or says which one stands in the way.
    mutating func insert(_ pattern: RoutePattern, fileID: String, line: Int) throws(RoutingError) -> RouteID {
        while let rival = self.rival(of: pattern) {
            guard self.rules.conventions.sameShape == .replaces else {
                throw self.conflict(pattern, with: rival, fileID: fileID, line: line)
            }
            self.remove(at: rival)
        }
        guard self.count < self.rules.limits.routes, self.generation < .max else {
            throw RoutingError(
                .invalidPattern,
                url: pattern.text,
                message: "the table holds \(self.count) routes, all that `routes` allows"
            )
        }
        self.generation += 1
        self.count += 1
        self.schemes.insert(pattern.scheme)
        let record = RouteRecord(
            generation: self.generation,
            line: UInt32(clamping: line),
            file: self.files.number(of: fileID),
            text: self.texts.add(pattern.text.utf8)
        )
        let index: UInt32
        if let free = self.freeRoutes.popLast() {
            index = free
            self.routes[Int(free)] = record
        } else {
            index = UInt32(self.routes.count)
            self.routes.append(record)
        }
        self.plant(pattern, at: index, record.generation)
        return RouteID(index: index, generation: record.generation)
    }

    /// Puts the ways of a pattern into the trie.
    mutating func plant(_ pattern: RoutePattern, at index: UInt32, _ generation: UInt32) {
        for variant in pattern.variants {
            let node = Int(self.node(for: variant, from: self.root(of: pattern.scheme)))
            // Two ways through optional groups may have one shape; the first is as good.
            guard self.nodes[node].leaf == Self.none else { continue }
            let literals = UInt32(variant.count { $0.isLiteral })
            self.nodes[node].leaf = self.newLeaf(
                Leaf(
                    route: RouteID(index: index, generation: generation).bits,
                    literals: literals,
                    names: self.names(of: variant)
                )
            )
        }
    }

    /// The route that matches some of the same addresses with the same specificity.
    func rival(of pattern: RoutePattern) -> UInt32? {
        for variant in pattern.variants {
            guard let node = self.existingNode(for: variant, pattern.scheme) else { continue }
            let leaf = self.nodes[Int(node)].leaf
            if leaf != Self.none { return self.leaves[Int(leaf)].index }
        }
        return nil
    }

    private func conflict(
        _ pattern: RoutePattern,
        with index: UInt32,
        fileID: String,
        line: Int
    ) -> RoutingError {
        let rival = self.routes[Int(index)]
        return RoutingError(
            .conflict,
            url: pattern.text,
            message: "registered at \(fileID):\(line), it matches the same addresses as "
                + "\(self.texts.string(rival.text)), registered at "
                + "\(self.files.names[Int(rival.file)]):\(rival.line)"
        )
    }

    private mutating func newLeaf(_ leaf: Leaf) -> UInt32 {
        if let free = self.freeLeaves.popLast() {
            self.leaves[Int(free)] = leaf
            return free
        }
        self.leaves.append(leaf)
        return UInt32(self.leaves.count - 1)
    }

    private mutating func names(of variant: [PatternSegment]) -> RouteNames? {
        var key = RouteNames.Key()
        for parameter in variant.lazy.flatMap(\.parameters) {
            key.names.append(parameter.name)
            key.areRests.append(parameter.type == "path")
        }
        if key.names.isEmpty, self.rules === AddressRules.waybill { return nil }
        if let names = self.names[key] { return names }
        let names = RouteNames(rules: self.rules, key)
        self.names[key] = names
        return names
    }
}
