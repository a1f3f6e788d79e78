/// The patterns of a table as a trie in flat arrays, whose nodes are numbers.
///
/// Going down the trie touches no reference counts: nodes lie in one array, and all literal edges in one hash table
/// keyed by parent and segment. `Docs/Decisions/0003-route-table.md` says why.
@usableFromInline
struct TableCore: Sendable {
    /// The number that stands for no node, no edge and no leaf.
    static let none: UInt32 = 0

    let rules: AddressRules
    var nodes: [Node] = [Node()]
    var edges = EdgeTable()
    /// The text of long literal segments.
    var bytes: [UInt8] = []
    var leaves: [Leaf] = [Leaf()]
    var freeLeaves: [UInt32] = []
    var freeNodes: [UInt32] = []
    var routes: [RouteRecord] = []
    var freeRoutes: [UInt32] = []
    var names: [RouteNames.Key: RouteNames] = [:]
    var defaultRoot = TableCore.none
    var generation: UInt32 = 0
    var count = 0

    init(rules: AddressRules) {
        self.rules = rules
        self.leaves[0].names = RouteNames(rules: rules)
    }

    /// A place in the trie: what has matched so far, and where it goes on.
    struct Node: Sendable {
        /// The leaf that ends here.
        var leaf = TableCore.none
        var placeholder = TableCore.none
        var any = TableCore.none
        var rest = TableCore.none
        /// How many literal edges lead on.
        var literals: UInt32 = 0
        /// Where the segment that leads here is, if its key is a hash.
        var textStart: UInt32 = 0
        var textLength: UInt32 = 0

        var isEmpty: Bool {
            self.leaf | self.placeholder | self.any | self.rest | self.literals == 0
        }
    }

    /// The end of one way to match a route.
    struct Leaf: Sendable {
        var route: UInt32 = 0
        var generation: UInt32 = 0
        var names: RouteNames?
    }

    /// What is known about a route beside the trie.
    struct RouteRecord: Sendable {
        var generation: UInt32
        var line: UInt32
        var pattern: RoutePattern?
        var fileID: String
    }
}

extension RouteNames {
    /// What names are shared by.
    struct Key: Hashable, Sendable {
        let names: [String]
        let areRests: [Bool]
    }
}
