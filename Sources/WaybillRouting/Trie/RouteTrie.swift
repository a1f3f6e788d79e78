/// The patterns of a table as a trie in flat arrays, whose nodes are numbers.
///
/// Going down the trie touches no reference counts: nodes lie in one array, and all literal edges in one hash table
/// keyed by parent and segment. `Docs/Decisions/0003-route-table.md` says why.
struct RouteTrie: Sendable {
    /// The number that stands for no node, no edge and no leaf.
    static let none: UInt32 = 0

    let rules: RoutingRules
    var nodes: [Node] = [Node()]
    var edges = LiteralEdges()
    /// The edges of segments that are neither literal nor plain placeholders, chained per node, best first.
    var mixed: [CompoundEdge] = [CompoundEdge()]
    var matchers = MatcherPool()
    var leaves: [Leaf]
    var routes: [RouteRecord] = []
    /// The text of long literal segments and of all patterns.
    var texts = TextPool()
    var names: [ParameterNames.Key: ParameterNames] = [:]
    var files = FilePool()
    /// The schemes that were registered, where they have to be.
    var schemes: Set<String> = []
    var defaultRoot = RouteTrie.none
    /// The number of the last registration; numbers are never used twice.
    var generation: UInt32 = 0
    var count = 0
    var freeNodes: [UInt32] = []
    var freeEdges: [UInt32] = []
    var freeLeaves: [UInt32] = []
    var freeRoutes: [UInt32] = []

    init(rules: RoutingRules) {
        self.rules = rules
        self.leaves = [Leaf(route: 0, literals: 0, names: nil)]
        if !rules.defaultScheme.isEmpty { self.schemes.insert(rules.defaultScheme) }
    }

    /// A place in the trie: what has matched so far, and where it goes on.
    struct Node: Sendable {
        /// The leaf that ends here.
        var leaf = RouteTrie.none
        /// The best of the edges in `mixed`.
        var mixed = RouteTrie.none
        var placeholder = RouteTrie.none
        var any = RouteTrie.none
        var rest = RouteTrie.none
        /// How many literal edges lead on.
        var literals: UInt32 = 0
        /// Where the segment that leads here is, if its key is a hash.
        var text = TextRange()

        /// Whether there is any way on beside the literal edges.
        @inline(__always)
        var hasNonLiteralEdges: Bool { self.mixed | self.placeholder | self.any | self.rest != 0 }
        var hasChildren: Bool { self.hasNonLiteralEdges || self.literals != 0 }
    }

    /// An edge that only some segments may take.
    struct CompoundEdge: Sendable {
        var next = RouteTrie.none
        var child = RouteTrie.none
        var matcher: UInt32 = 0
    }

    /// The end of one way to match a route.
    struct Leaf: Sendable {
        /// The bits of the route's identifier.
        var route: UInt64
        /// How many segments of the way are literal.
        var literals: UInt32
        /// What it captures is called like this; nil when it captures nothing and the rules are the usual ones.
        var names: ParameterNames?

        var index: UInt32 { UInt32(truncatingIfNeeded: self.route) }
        var generation: UInt32 { UInt32(truncatingIfNeeded: self.route &>> 32) }
    }

    /// What is known about a route beside the trie.
    struct RouteRecord: Sendable {
        /// 0 when the route is gone.
        var generation: UInt32 = 0
        var line: UInt32 = 0
        var file: UInt32 = 0
        var text = TextRange()
    }
}
