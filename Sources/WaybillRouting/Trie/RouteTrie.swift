/// The patterns of a table as a trie of segments, in flat arrays with indices instead of pointers.
///
/// A search of the trie changes no reference counts. The nodes are one array, and all literal edges are one
/// hash table with parent and segment as the key. `Docs/Decisions/0003-route-table.md` has the reasons.
struct RouteTrie: Sendable {
    /// The index that means no node, no edge and no leaf.
    static let none: UInt32 = 0

    let rules: RoutingRules
    var nodes: [Node] = [Node()]
    var edges = SlotTable<LiteralEdge>()
    /// The literal patterns that are found by their bytes, without a search.
    var paths = LiteralPaths()
    /// The edges of compound segments, as one linked list per node, most specific first.
    var compoundEdges: [CompoundEdge] = [CompoundEdge()]
    var matchers = MatcherPool()
    var leaves: [Leaf]
    var routes: [RouteRecord] = []
    /// The texts of long literal segments and of all patterns.
    var texts = TextPool()
    var names: [ParameterNames.Key: ParameterNames] = [:]
    var files = FilePool()
    /// The registered schemes; some conventions reject URLs of other schemes.
    var schemes: Set<String> = []
    var defaultRoot = RouteTrie.none
    /// The number of the last registration; numbers are never reused.
    var generation: UInt32 = 0
    var count = 0
    /// The number of names and matchers after the last rebuild.
    var pooledByRebuild = 0
    var freeNodes: [UInt32] = []
    var freeEdges: [UInt32] = []
    var freeLeaves: [UInt32] = []
    var freeRoutes: [UInt32] = []

    init(rules: RoutingRules) {
        self.rules = rules
        self.leaves = [Leaf(route: 0, literals: 0, names: nil)]
        if !rules.defaultScheme.isEmpty { self.schemes.insert(rules.defaultScheme) }
    }

    /// A node of the trie: its leaf and its edges.
    struct Node: Sendable {
        /// The leaf of the patterns that end at this node.
        var leaf = RouteTrie.none
        /// The first of the node's compound edges.
        var compound = RouteTrie.none
        var placeholder = RouteTrie.none
        var any = RouteTrie.none
        var rest = RouteTrie.none
        /// The number of literal edges.
        var literals: UInt32 = 0
        /// The text of the segment that leads to this node, if its key is a hash.
        ///
        /// Without backtracking, it may also be the name of the placeholder that leads to the node, from the
        /// first pattern.
        var text = TextRange()

        /// Whether the node has an edge that is not literal.
        var hasNonLiteralEdges: Bool { self.compound | self.placeholder | self.any | self.rest != 0 }
        var hasChildren: Bool { self.hasNonLiteralEdges || self.literals != 0 }
    }

    /// An edge for a compound segment, which a ``SegmentMatcher`` decides.
    struct CompoundEdge: Sendable {
        var next = RouteTrie.none
        var child = RouteTrie.none
        var matcher: UInt32 = 0
    }

    /// The end of one segment sequence of a route.
    struct Leaf: Sendable {
        /// The bits of the ``RouteID``.
        var route: UInt64
        /// The number of literal segments.
        var literals: UInt32
        /// The names of the captures; nil when there are none and the rules are the default rules.
        var names: ParameterNames?

        var index: UInt32 { UInt32(truncatingIfNeeded: self.route) }
        var generation: UInt32 { UInt32(truncatingIfNeeded: self.route &>> 32) }
    }

    /// The registration of a route.
    struct RouteRecord: Sendable {
        /// The number of the registration; 0 when the route was removed.
        var generation: UInt32 = 0
        var line: UInt32 = 0
        var file: UInt32 = 0
        var text = TextRange()
    }
}
