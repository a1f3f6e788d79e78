/// The patterns whose text is a URL, such as `app://user/detail`.
///
/// The bytes of a URL, without its query, are compared with these patterns, so no search of the segments is
/// needed. The table is used only if the conventions prefer a literal segment to every other segment,
/// because a search would then find the same leaf. A leaf is the end of a pattern in the trie. The search
/// still finds a URL with the same segments in another spelling.
struct LiteralPaths: Sendable {
    private var table = SlotTable<LiteralPath>()
    private(set) var beginnings = PathBeginnings()

    var count: Int { self.table.count }
    var isEmpty: Bool { self.count == 0 }

    /// A literal pattern of the table.
    struct LiteralPath: TableSlot {
        /// The high half of ``hash``.
        var key: UInt32 = 0
        /// The start of the pattern's text in ``RouteTrie/texts``.
        var start: UInt32 = 0
        /// The leaf; 0 marks a free slot.
        var leaf: UInt32 = 0
        /// The length of the pattern in bytes.
        var count: UInt16 = 0
        /// The end of the scheme; 0 when the pattern has no scheme.
        var schemeEnd: UInt8 = 0
        /// The bits of ``AddressLayout/Flags`` for a URL that begins with the pattern.
        ///
        /// Only the flag `defaultScheme` can be set.
        var flags: UInt8 = 0

        var isFree: Bool { self.leaf == RouteTrie.none }

        var hash: UInt64 { UInt64(self.key) &<< 32 }
    }

    mutating func insert(_ text: TextRange, of texts: TextPool, _ layout: AddressLayout, leaf: UInt32) {
        let bytes = texts.bytes.span.extracting(text.range)
        self.beginnings.insert(bytes)
        guard let path = ScannedPath(bytes, self.beginnings) else { return }
        self.table.insert(
            LiteralPath(
                key: path.key,
                start: text.start,
                leaf: leaf,
                count: UInt16(truncatingIfNeeded: path.end),
                schemeEnd: UInt8(truncatingIfNeeded: layout.schemeEnd),
                flags: layout.hasDefaultScheme ? AddressLayout.Flags.defaultScheme.rawValue : 0
            )
        )
    }

    mutating func remove(_ text: TextRange, of texts: TextPool) {
        guard let path = ScannedPath(texts.bytes.span.extracting(text.range), self.beginnings) else { return }
        self.table.remove(UInt64(path.key) &<< 32) { $0.start == text.start && !$0.isFree }
    }

    /// Returns the pattern that equals the path of a URL, or a free slot when no pattern equals the path.
    @inline(__always)
    func find(_ path: ScannedPath, of bytes: Span<UInt8>, _ texts: TextPool) -> LiteralPath {
        var at = self.table.start(UInt64(path.key) &<< 32)
        while true {
            let slot = self.table.slots[at]
            if slot.isFree { return slot }
            if slot.key == path.key, Int(slot.count) == path.end,
                texts.equals(start: Int(slot.start), bytes, count: path.end)
            {
                return slot
            }
            at = self.table.next(at)
        }
    }
}

/// A Bloom filter of the first 16 bytes of all patterns.
///
/// Most URLs with values in their paths equal none of the patterns, and the filter usually excludes these
/// URLs. A removed pattern stays in the filter, which costs time but is not an error. A pattern of fewer than
/// 16 bytes is not in the filter.
struct PathBeginnings: Sendable {
    static let length = 16

    private var bits = [UInt64](repeating: 0, count: 64)

    mutating func insert(_ bytes: Span<UInt8>) {
        guard bytes.count >= Self.length else { return }
        let first = SegmentKey.mix(0, ByteWord.eight(bytes, at: 0))
        let hash = SegmentKey.mix(first, ByteWord.eight(bytes, at: 8))
        self.bits[Self.word(hash)] |= Self.bit(hash)
    }

    func mayContain(_ hash: UInt64) -> Bool { self.bits[Self.word(hash)] & Self.bit(hash) != 0 }

    private static func word(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash & 63) }

    private static func bit(_ hash: UInt64) -> UInt64 { 1 &<< (hash &>> 58) }
}

/// The end of a URL's path, and a hash of the bytes before it.
///
/// A fragment without a query before it counts as a part of the path. The URL then equals no pattern, because
/// no pattern has a fragment.
struct ScannedPath {
    /// The minimum length of a scanned URL or pattern, in bytes; the search handles shorter URLs.
    static let shortest = 8

    let end: Int
    let key: UInt32

    /// Creates a path by scanning a URL of at least ``shortest`` bytes.
    ///
    /// Returns nil if the filter excludes the first bytes of the URL.
    @inline(__always)
    init?(_ bytes: Span<UInt8>, _ beginnings: PathBeginnings) {
        var index = 0
        var hash: UInt64 = 0
        while index &+ 8 <= bytes.count {
            let word = ByteWord.eight(bytes, at: index)
            let ends = ByteWord.mask(word, UInt8(ascii: "?"))
            if ends != 0 {
                self.init(hash, word, from: index, length: ByteWord.firstIndex(ends))
                return
            }
            hash = SegmentKey.mix(hash, word)
            index &+= 8
            if index == PathBeginnings.length, !beginnings.mayContain(hash) { return nil }
        }
        // The last word overlaps the word before it, so shift out the bytes that both words contain. A set
        // bit after the last byte ends the path.
        let count = bytes.count & 7
        let word = count == 0 ? 0 : ByteWord.last(bytes) &>> UInt64((8 &- count) &* 8)
        let ends = ByteWord.mask(word, UInt8(ascii: "?")) | 0x80 &<< UInt64(count &* 8)
        self.init(hash, word, from: index, length: ByteWord.firstIndex(ends))
    }

    private init(_ hash: UInt64, _ word: UInt64, from index: Int, length: Int) {
        self.end = index &+ length
        let hash = SegmentKey.mix(hash, ByteWord.prefix(word, length))
        self.key = UInt32(
            truncatingIfNeeded: SegmentKey.mix(hash, UInt64(truncatingIfNeeded: self.end)) &>> 32
        )
    }
}

extension RouteTrie {
    /// Adds a pattern to ``paths`` if a URL with the same text needs no search.
    mutating func insertPath(_ pattern: RoutePattern, at index: UInt32) {
        guard let leaf = self.leafOfPath(pattern, at: index) else { return }
        let text = self.routes[Int(index)].text
        guard let layout = self.layoutOfPath(pattern.variants[0], text) else { return }
        self.paths.insert(text, of: self.texts, layout, leaf: leaf)
    }

    /// Returns the layout of a pattern's text as a URL, or nil if the text has another meaning as a URL.
    private func layoutOfPath(_ segments: [PatternSegment], _ text: TextRange) -> AddressLayout? {
        var scan = HeapScan()
        let bytes = self.texts.bytes.span.extracting(text.range)
        guard bytes.count >= ScannedPath.shortest, scan.read(bytes, self.rules) == nil,
            scan.layout.pathEnd == bytes.count,
            scan.layout.schemeEnd <= UInt8.max, !scan.layout.hasEscapes, scan.hasSegments(segments, bytes)
        else { return nil }
        return scan.layout
    }

    mutating func removePath(_ pattern: RoutePattern, at index: UInt32) {
        let text = self.routes[Int(index)].text
        guard text.range.count >= ScannedPath.shortest, self.leafOfPath(pattern, at: index) != nil else {
            return
        }
        self.paths.remove(text, of: self.texts)
    }

    /// Returns the leaf of a pattern that has only literal segments and is preferred to every other pattern,
    /// or nil.
    private func leafOfPath(_ pattern: RoutePattern, at index: UInt32) -> UInt32? {
        guard self.rules.firstMatchIsBest, !self.rules.needsNormalization, pattern.variants.count == 1,
            pattern.variants[0].allSatisfy(\.isLiteral),
            let node = self.existingNode(for: pattern.variants[0], pattern.scheme)
        else { return nil }
        let leaf = self.nodes[Int(node)].leaf
        return leaf != Self.none && self.leaves[Int(leaf)].index == index ? leaf : nil
    }
}

extension HeapScan {
    fileprivate mutating func hasSegments(_ segments: [PatternSegment], _ bytes: Span<UInt8>) -> Bool {
        guard segments.count == self.count else { return false }
        for (index, segment) in segments.enumerated() {
            let range = self.range(index).range
            guard case .literal(let text) = segment, text.count == range.count else { return false }
            for offset in text.indices where text[offset] != bytes[range.lowerBound + offset] { return false }
        }
        return true
    }
}
