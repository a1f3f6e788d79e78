extension TableCore {
    /// Adds a pattern, or says which one stands in the way.
    mutating func insert(_ pattern: RoutePattern, fileID: String, line: Int) throws(RoutingError) -> RouteID {
        if let rival = self.rival(of: pattern) {
            guard self.rules.conventions.sameShape == .replaces else {
                throw self.conflict(pattern, with: rival, fileID: fileID, line: line)
            }
            _ = self.remove(at: rival)
        }
        guard self.count < self.rules.limits.routes else {
            throw RoutingError(
                .invalidPattern,
                url: pattern.text,
                message: "the table holds \(self.count) routes, all that `routes` allows"
            )
        }
        self.generation &+= 1
        let record = RouteRecord(
            generation: self.generation,
            line: UInt32(clamping: line),
            pattern: pattern,
            fileID: fileID
        )
        let index: UInt32
        if let free = self.freeRoutes.popLast() {
            index = free
            self.routes[Int(free)] = record
        } else {
            index = UInt32(self.routes.count)
            self.routes.append(record)
        }
        self.count += 1
        for variant in pattern.variants {
            let node = self.node(for: variant, from: self.root(of: pattern.scheme))
            // Two ways through optional groups may have one shape; the first is as good.
            guard self.nodes[Int(node)].leaf == Self.none else { continue }
            self.nodes[Int(node)].leaf = self.leaf(
                Leaf(route: index, generation: self.generation, names: self.names(of: variant))
            )
        }
        return RouteID(index: index, generation: self.generation)
    }

    /// The route that matches some of the same addresses with the same specificity.
    func rival(of pattern: RoutePattern) -> UInt32? {
        for variant in pattern.variants {
            guard var node = self.existingRoot(of: pattern.scheme) else { return nil }
            for segment in variant {
                node = self.child(of: node, segment)
                if node == Self.none { break }
            }
            if node != Self.none, self.nodes[Int(node)].leaf != Self.none {
                return self.leaves[Int(self.nodes[Int(node)].leaf)].route
            }
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
                + "\(rival.pattern?.text ?? ""), registered at \(rival.fileID):\(rival.line)"
        )
    }

    private mutating func leaf(_ leaf: Leaf) -> UInt32 {
        if let free = self.freeLeaves.popLast() {
            self.leaves[Int(free)] = leaf
            return free
        }
        self.leaves.append(leaf)
        return UInt32(self.leaves.count - 1)
    }

    private mutating func names(of variant: [PatternSegment]) -> RouteNames {
        let parameters = variant.flatMap(\.parameters)
        let key = RouteNames.Key(
            names: parameters.map(\.name),
            areRests: parameters.map { $0.type == "path" }
        )
        if let names = self.names[key] { return names }
        let names = RouteNames(rules: self.rules, names: key.names, areRests: key.areRests)
        self.names[key] = names
        return names
    }
}
