/// What has to be known to read an address, shared by all addresses and matches of one table.
@usableFromInline
final class AddressRules: Sendable {
    @usableFromInline let conventions: RoutingConventions
    @usableFromInline let limits: RoutingLimits
    let defaultScheme: String
    /// Whether the scanner's result has to be worked on again before it can be matched.
    let hasDetours: Bool
    let fragmentByte: UInt8
    /// Whether what names no scheme is an error.
    let requiresScheme: Bool
    /// Whether schemes differ from how they are written in nothing but case.
    let hasSimpleSchemes: Bool

    init(conventions: RoutingConventions, defaultScheme: String, limits: RoutingLimits) {
        self.conventions = conventions
        self.limits = limits
        self.defaultScheme = conventions.folded(scheme: defaultScheme)
        self.hasSimpleSchemes = conventions.schemeIgnoresCase && conventions.schemeAliases.isEmpty
        self.requiresScheme = conventions.missingScheme == .isError || defaultScheme.isEmpty
        self.hasDetours =
            conventions.segmentsIgnoreCase || conventions.host != .isFirstSegment
            || !conventions.leadingVerbs.isEmpty
        // Without fragments a second question mark is looked for, which changes nothing.
        self.fragmentByte = conventions.hasFragment ? UInt8(ascii: "#") : UInt8(ascii: "?")
    }

    static let waybill = AddressRules(conventions: .waybill, defaultScheme: "app", limits: .default)
}

extension RoutingConventions {
    /// The scheme as tables know it: case folded and aliases followed, as the conventions say.
    func folded(scheme: String) -> String {
        let folded = self.schemeIgnoresCase ? scheme.lowercased() : scheme
        return self.schemeAliases[folded] ?? folded
    }
}
