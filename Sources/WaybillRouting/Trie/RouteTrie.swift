/// The patterns of a table as a trie of segments.
///
/// The trie consists of flat arrays with indices instead of pointers, and a search changes no reference
/// counts. One array contains all nodes, and one hash table contains all literal edges, with parent and
/// segment as the key. `Docs/Decisions/0003-route-table.md` contains the reasons.
struct RouteTrie: Sendable {
    /// The index that represents a missing node, edge or leaf.
    static let none: UInt32 = 0

    let rules: RoutingRules
    var nodes: [Node] = [Node()]
    var edges = SlotTable<LiteralEdge>()
    /// The patterns whose text is a URL that is found without a search.
    var paths = LiteralPaths()
    /// The edges of compound segments, in a linked list for each node, the most specific edge first.
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
    /// The number of the last registration; a number is never used again.
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
        /// The text of the segment that leads to this node, if the key of the segment is a hash.
        ///
        /// If searches do not backtrack, the text can also be the name of the placeholder that leads to the
        /// node. The name comes from the first pattern with this placeholder.
        var text = TextRange()

        /// Whether the node has an edge that is not literal.
        var hasNonLiteralEdges: Bool { self.compound | self.placeholder | self.any | self.rest != 0 }
        var hasChildren: Bool { self.hasNonLiteralEdges || self.literals != 0 }
    }

    /// An edge that a segment follows if a ``SegmentMatcher`` accepts the segment.
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
        /// The names of the captures; nil when the pattern captures nothing and the rules are the default
        /// rules.
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
