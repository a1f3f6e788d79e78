extension BusDocument {
    /// A text that changes when the exposed routes change.
    ///
    /// The title, the version, documentation comments, and routes that are not exposed have no effect on the
    /// text. A generated client contains the fingerprint of its document, so that the client can check
    /// whether the server's routes have changed.
    package var fingerprint: String {
        let routes = self.routes.filter { !$0.exposure.isEmpty }.map { $0.withoutDocumentation }
        var references = NumberedReferences()
        var trees = routes.map { references.numbered($0.tree) }
        while let name = references.next() {
            trees.append(references.numbered(self.schemas[name]?.tree ?? [:]))
        }
        // FNV-1a with 64 bits. The hash only has to detect changes, and does not have to prevent forgery.
        let text = JSONTree.array(trees).written(isPretty: false)
        let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension BusDocument.Route {
    fileprivate var withoutDocumentation: Self {
        Self(
            pattern: self.pattern,
            module: self.module,
            action: self.action,
            documentation: "",
            parameters: self.parameters,
            replyType: self.replyType,
            reply: self.reply,
            failures: self.failures,
            progress: self.progress,
            exposure: self.exposure,
            templates: self.templates
        )
    }
}

/// Numbers in place of the names of schemas, in the order of the first references.
///
/// The name of a schema depends on the other types of the program, of which some are not exposed.
private struct NumberedReferences {
    private var numbers: [String: Int] = [:]
    private var names: [String] = []
    private var visited = 0

    /// Returns the next schema to which a tree has referred; nil if all have been returned.
    mutating func next() -> String? {
        guard self.visited < self.names.count else { return nil }
        defer { self.visited += 1 }
        return self.names[self.visited]
    }

    /// Returns a tree whose references have numbers.
    mutating func numbered(_ tree: JSONTree) -> JSONTree {
        switch tree {
        case .array(let elements): return .array(elements.map { self.numbered($0) })
        case .object(let members):
            if let name = ValueSchema(tree).referenced {
                let number = self.numbers[name] ?? self.names.count
                if number == self.names.count {
                    self.numbers[name] = number
                    self.names.append(name)
                }
                return ["$ref": .int(number)]
            }
            var numbered: [String: JSONTree] = [:]
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                numbered[name] = self.numbered(value)
            }
            return .object(numbered)
        default: return tree
        }
    }
}
