/// A URL as routing sees it: scheme, segments with the host first, query and fragment.
///
/// An address keeps the text it was made from and knows where the parts are; nothing is copied or decoded until it
/// is asked for. Two addresses are equal when they mean the same: `app://feed/detail` and `APP:///feed/detail/` do.
public struct Address: Sendable {
    /// The URL as it was given.
    public let text: String
    let layout: AddressLayout
    let rules: AddressRules

    /// Reads a URL.
    ///
    /// - Parameters:
    ///   - text: the URL, with or without a scheme.
    ///   - conventions: how it is read.
    ///   - defaultScheme: the scheme of a URL that names none.
    ///   - limits: how large it may be.
    /// - Throws: ``RoutingError/Code/invalidURL`` with a sentence that says what is wrong.
    public init(
        _ text: String,
        conventions: RoutingConventions = .waybill,
        defaultScheme: String = "app",
        limits: RoutingLimits = .default
    ) throws(RoutingError) {
        try self.init(text, .shared(conventions: conventions, defaultScheme: defaultScheme, limits: limits))
    }

    init(_ text: String, _ rules: AddressRules) throws(RoutingError) {
        var scan = SmallScan()
        if scan.read(text.utf8.span, rules) == nil, !scan.isFull {
            self.init(text: text, layout: scan.layout, rules: rules)
        } else {
            var scan = LargeScan()
            self = try scan.address(text, rules)
        }
    }

    @inline(__always)
    init(text: String, layout: AddressLayout, rules: AddressRules) {
        self.text = text
        self.layout = layout
        self.rules = rules
    }
}
