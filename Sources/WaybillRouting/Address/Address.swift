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
        let isUsual = conventions == .waybill && defaultScheme == "app" && limits == .default
        try self.init(
            text,
            isUsual
                ? .waybill
                : AddressRules(conventions: conventions, defaultScheme: defaultScheme, limits: limits)
        )
    }

    init(_ text: String, _ rules: AddressRules) throws(RoutingError) {
        var scan = AddressScan()
        self = try scan.address(text, rules)
    }

    @inline(__always)
    init(text: String, layout: AddressLayout, rules: AddressRules) {
        self.text = text
        self.layout = layout
        self.rules = rules
    }
}

extension AddressScan {
    /// Reads a text and keeps what was found beside the address.
    mutating func address(_ text: String, _ rules: AddressRules) throws(RoutingError) -> Address {
        guard let failure = self.read(text.utf8Span.span, rules) else {
            return Address(text: text, layout: self.layout, rules: rules)
        }
        guard let whole = rules.wholeURL(decodedFrom: text, failure) else {
            throw failure.routingError(text, rules.limits)
        }
        self = AddressScan()
        return try self.address(whole, rules)
    }
}
