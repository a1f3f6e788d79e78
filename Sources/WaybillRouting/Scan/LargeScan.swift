/// A scan of any number of segments.
struct LargeScan: AddressScan, ~Copyable {
    var layout = AddressLayout()
    private var segments: [ScannedSegment] = []

    var count: Int { self.segments.count }
    var isFull: Bool { false }

    mutating func append(_ segment: ScannedSegment) { self.segments.append(segment) }

    mutating func segment(_ index: Int) -> ScannedSegment { self.segments[index] }

    mutating func range(_ index: Int) -> URLRange { self.segments[index].range }

    mutating func replace(_ index: Int, with segment: ScannedSegment) { self.segments[index] = segment }

    mutating func dropFirst() {
        self.segments.removeFirst()
        self.layout.pathStart = self.segments.first?.range.start ?? self.layout.pathEnd
    }
}

extension LargeScan {
    /// Reads a text and keeps what was found beside the address.
    mutating func address(_ text: String, _ rules: AddressRules) throws(RoutingError) -> Address {
        guard let failure = self.read(text.utf8.span, rules) else {
            return Address(text: text, layout: self.layout, rules: rules)
        }
        guard let whole = rules.wholeURL(decodedFrom: text, failure) else {
            throw failure.routingError(text, rules.limits)
        }
        self = LargeScan()
        return try self.address(whole, rules)
    }
}
