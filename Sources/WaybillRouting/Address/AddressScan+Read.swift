extension AddressScan where Self: ~Copyable {
    /// Reads the URL in one pass, and returns the reason why it is not an address, or nil.
    @inline(__always)
    mutating func read(_ bytes: Span<UInt8>, _ rules: RoutingRules) -> ScanFailure? {
        let count = bytes.count
        guard count > 0 else { return .empty }
        guard count <= rules.urlLength else { return .tooLong }
        var flags = AddressLayout.Flags()
        var schemeEnd = Self.endOfDefaultScheme(bytes, rules)
        if schemeEnd != 0 { flags = .defaultScheme } else { schemeEnd = Self.endOfScheme(bytes) }
        if schemeEnd == 0, rules.requiresScheme { return .noScheme }
        let pathStart = schemeEnd == 0 ? 0 : schemeEnd &+ 1
        var escapes: UInt64 = 0
        let pathEnd = self.readSegments(
            bytes,
            from: pathStart,
            fragmentByte: rules.fragmentByte,
            escapes: &escapes
        )
        var tail = ScannedTail(queryEnd: pathEnd)
        if pathEnd < count {
            tail = ScannedTail(bytes, from: pathEnd, rules.fragmentByte)
            if tail.queryEnd < count { flags.insert(.fragment) }
        }
        let hasEscapes = ByteWord.isAny(escapes) || tail.hasEscapes
        if hasEscapes { flags.insert(.escapes) }
        self.layout = AddressLayout(
            schemeEnd: schemeEnd,
            pathStart: pathStart,
            pathEnd: pathEnd,
            queryEnd: tail.queryEnd,
            flags: flags
        )
        if hasEscapes, !PercentCoding.isValid(bytes) { return .notUTF8 }
        if hasEscapes || rules.needsNormalization { self.normalizeSegments(bytes, rules) }
        guard self.count <= rules.segmentLimit else { return .tooManySegments }
        if tail.queryEnd &- pathEnd > 2 &* rules.queryItemLimit, self.countsTooManyQueryItems(bytes, rules) {
            return .tooManyQueryItems
        }
        return nil
    }

    /// Returns the end of the default scheme at the start of the URL, or 0.
    ///
    /// The method recognises only a default scheme that consists of letters and is shorter than eight bytes.
    /// A single comparison of words decides, and the search then needs no lookup of the scheme's root.
    private static func endOfDefaultScheme(_ bytes: Span<UInt8>, _ rules: RoutingRules) -> Int {
        let word = ByteWord.load(bytes, 0)
        let colons = ByteWord.mask(word, UInt8(ascii: ":"))
        let length = ByteWord.firstIndex(colons)
        // Setting this bit folds letters to lower case. The bit turns no other byte into a letter.
        let folded = ByteWord.prefix(word | (ByteWord.ones &* 0x20), length & 7)
        guard colons != 0, SegmentKey.short(folded, length) == rules.defaultSchemeKey else { return 0 }
        return length
    }

    /// Returns the end of the scheme; 0 when the URL has no scheme.
    @inline(never)
    private static func endOfScheme(_ bytes: Span<UInt8>) -> Int {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if ASCII.isLetter(byte) || (index > 0 && ASCII.isSchemeTail(byte)) {
                index &+= 1
                continue
            }
            return byte == UInt8(ascii: ":") ? index : 0
        }
        return 0
    }

    /// Reads the segments, collects in `escapes` whether a `%` occurs, and returns the end of the path.
    private mutating func readSegments(
        _ bytes: Span<UInt8>,
        from start: Int,
        fragmentByte: UInt8,
        escapes: inout UInt64
    ) -> Int {
        let count = bytes.count
        var index = start
        while index < count, bytes[index] == UInt8(ascii: "/") { index &+= 1 }
        while index < count {
            let start = index
            var (word, ends) = ByteWord.loadWithEnd(bytes, index)
            ends |= ByteWord.segmentEnds(word) | ByteWord.mask(word, fragmentByte)
            var hash: UInt64 = 0
            // Test the whole word, because the position of a `%` does not matter.
            escapes |= ByteWord.signs(word, UInt8(ascii: "%"))
            while ends == 0 {
                hash = SegmentKey.mix(hash, word)
                index &+= 8
                (word, ends) = ByteWord.loadWithEnd(bytes, index)
                escapes |= ByteWord.signs(word, UInt8(ascii: "%"))
                ends |= ByteWord.segmentEnds(word) | ByteWord.mask(word, fragmentByte)
            }
            let length = ByteWord.firstIndex(ends)
            let tail = ByteWord.prefix(word, length)
            let isShort = index == start
            index &+= length
            if isShort {
                if length > 0 {
                    let range = URLRange(start, index)
                    self.append(ScannedSegment(range: range, key: SegmentKey.short(tail, length)))
                }
            } else {
                if length > 0 { hash = SegmentKey.mix(hash, tail) }
                self.append(ScannedSegment(range: URLRange(start, index), key: hash | SegmentKey.longFlag))
            }
            // The delimiter is still in the word. After the end of the text, the word contains zeros.
            guard word &>> UInt64(length &* 8) & 0xff == UInt64(UInt8(ascii: "/")) else { break }
            index &+= 1
        }
        return index
    }
}

/// The part of the URL after the path: the query and the fragment.
struct ScannedTail {
    /// The end of the query; the end of the path when the URL has no query.
    var queryEnd: Int
    /// Whether the part contains a `%`.
    var hasEscapes = false
}

extension ScannedTail {
    /// Creates a tail by reading from the end of the path to the end of the text.
    ///
    /// The byte at `start` is `?` or begins the fragment.
    @inline(__always)
    init(_ bytes: Span<UInt8>, from start: Int, _ fragmentByte: UInt8) {
        // Fast path for a query with neither `#` nor `%`. The marks of all words are combined and tested
        // once.
        if bytes[start] == UInt8(ascii: "?"), bytes.count >= 8 {
            // The last word may overlap bytes that were read before. A mark in these bytes only leads to the
            // slow path.
            var signs = ByteWord.signs(ByteWord.last(bytes))
            var index = start &+ 1
            while index &+ 8 < bytes.count {
                signs |= ByteWord.signs(ByteWord.eight(bytes, at: index))
                index &+= 8
            }
            if !ByteWord.isAny(signs) {
                self.init(queryEnd: bytes.count)
                return
            }
        }
        self.init(looking: bytes, from: start, fragmentByte)
    }

    @inline(never)
    private init(looking bytes: Span<UInt8>, from start: Int, _ fragmentByte: UInt8) {
        let count = bytes.count
        self.init(queryEnd: start)
        var index = start
        if bytes[index] == UInt8(ascii: "?") {
            index &+= 1
            while index < count, bytes[index] != fragmentByte {
                if bytes[index] == UInt8(ascii: "%") { self.hasEscapes = true }
                index &+= 1
            }
            self.queryEnd = index
        }
        while index < count, !self.hasEscapes {
            self.hasEscapes = bytes[index] == UInt8(ascii: "%")
            index &+= 1
        }
    }
}

/// Steps that only a few addresses need: percent-decoding, case folding, and the removal of hosts and verbs
/// that are not segments.
extension AddressScan where Self: ~Copyable {
    @inline(never)
    mutating func normalizeSegments(_ bytes: Span<UInt8>, _ rules: RoutingRules) {
        let conventions = rules.conventions
        if conventions.host != .isFirstSegment, let host = self.host(bytes) {
            let isDotted = (host.lowerBound..<host.upperBound).contains { bytes[$0] == UInt8(ascii: ".") }
            if conventions.host == .isIgnored || isDotted { self.dropFirst() }
        }
        if self.count > 0, RoutingRules.isVerb(bytes, self.range(0).range, of: conventions) {
            self.dropFirst()
        }
        for number in 0..<self.count {
            var segment = self.segment(number)
            var key = SegmentKey()
            var index = segment.range.start
            while index < segment.range.end {
                let (byte, length) = PercentCoding.byte(bytes, index: index, end: segment.range.end)
                key.append(conventions.segmentsIgnoreCase ? ASCII.lowercased(byte) : byte)
                index += length
            }
            key.finish()
            segment.key = key.value
            self.replace(number, with: segment)
        }
    }

    /// Returns the range of the host: the first segment, if it comes directly after `//`.
    private mutating func host(_ bytes: Span<UInt8>) -> Range<Int>? {
        let start = self.layout.schemeEnd == 0 ? 0 : self.layout.schemeEnd + 1
        guard self.count > 0, self.range(0).start == start + 2 else { return nil }
        return self.range(0).range
    }

    @inline(never)
    mutating func countsTooManyQueryItems(_ bytes: Span<UInt8>, _ rules: RoutingRules) -> Bool {
        var items = QueryItems(self.layout, rules)
        var count = 0
        while items.next(bytes) != nil { count += 1 }
        return count > rules.limits.queryItems
    }
}

/// The reasons why a text is not an address.
enum ScanFailure {
    case empty
    case tooLong
    case tooManySegments
    case tooManyQueryItems
    case notUTF8
    case noScheme
}

extension ScanFailure {
    /// Returns the failure as a `RoutingError` with the code `invalidURL`.
    @inline(never)
    func routingError(_ text: String, _ limits: RoutingLimits) -> RoutingError {
        let message =
            switch self {
            case .empty: "an empty text is not a URL: write a URL such as /user/detail"
            case .tooLong:
                "the URL has \(text.utf8.count) bytes, more than the \(min(limits.urlLength, URLRange.longest)) "
                    + "that `urlLength` allows"
            case .tooManySegments:
                "the URL has more segments than the \(limits.segments) that `segments` allows"
            case .tooManyQueryItems:
                "the URL has more query items than the \(limits.queryItems) that `queryItems` allows"
            case .notUTF8:
                "the percent-encoding of the URL is not UTF-8: encode the text with `Address.encode`"
            case .noScheme:
                "the URL has no scheme, and there is no default scheme: begin the URL with a scheme"
            }
        // Errors are logged, so shorten a text that exceeds the limit.
        return RoutingError(
            .invalidURL,
            url: self == .tooLong ? String(text.unicodeScalars.prefix(64)) + "…" : text,
            message: message
        )
    }
}

extension RoutingRules {
    /// Decodes a URL that is percent-encoded as a whole.
    ///
    /// - Throws: The failure, if the conventions do not accept this form or the text does not have it.
    @inline(never)
    func wholeURL(decodedFrom text: String, _ failure: ScanFailure) throws(RoutingError) -> String {
        let bytes = text.utf8.span
        if self.conventions.decodesWholeURL, failure == .noScheme, PercentCoding.isValid(bytes) {
            let decoded = PercentCoding.text(bytes, 0..<bytes.count)
            if decoded.contains("://"), decoded.contains("?"), !text.contains("://") { return decoded }
        }
        throw failure.routingError(text, self.limits)
    }
}
