/// What an address, and its caller, say to a handler: one view of the values of path, query and call.
///
/// A value that was passed with the call wins; between path and query the conventions decide, and by default the path
/// wins. Nothing is decoded before it is read.
public struct Parameters: Sendable {
    @usableFromInline let text: String
    @usableFromInline let layout: AddressLayout
    /// Nil when the pattern names nothing and the rules are the usual ones: then there are no references to count.
    @usableFromInline var names: ParameterNames?
    @usableFromInline let captures: Captures
    /// The bits of the route that was matched: with them here, a match is nothing but its parameters.
    @usableFromInline let route: UInt64

    /// The values that were passed with the call.
    @inlinable public var call: [String: any Sendable] {
        get { self.names?.call ?? [:] }
        set { if !newValue.isEmpty || self.names?.call != nil { self.setCall(newValue) } }
    }

    @usableFromInline
    mutating func setCall(_ call: [String: any Sendable]) {
        self.names = (self.names ?? .none).with(call: call)
    }

    /// How the address is read.
    var rules: RoutingRules { self.names?.rules ?? .waybill }

    /// Where a captured value is.
    @inline(__always)
    func captured(_ index: Int) -> URLRange {
        if index < Captures.capacity { return self.captures[index] }
        return self.names?.overflow[index &- Captures.capacity] ?? URLRange()
    }

    /// The address that the values come from.
    public var address: Address { Address(text: self.text, layout: self.layout, rules: self.rules) }

    /// The same parameters with more values from the call, which win over those that were there.
    public func merging(call: [String: any Sendable]) -> Self {
        var merged = self
        merged.call.merge(call) { _, new in new }
        return merged
    }

    /// Adds what was passed with the call, which wins over what is there.
    package mutating func pass(_ call: [String: any Sendable]) {
        guard let present = self.names?.call else { return self.setCall(call) }
        self.setCall(present.merging(call) { _, new in new })
    }

    /// The text of a value, or nil when there is none of that name.
    ///
    /// A value that was passed with the call and is not text is described.
    public subscript(name: String) -> String? {
        if let value = self.names?.call?[name] { return Self.isNil(value) ? nil : Self.text(of: value) }
        return self.locate(name).map { self.text(at: $0) }
    }

    @usableFromInline
    package static func text(of value: any Sendable) -> String {
        value as? String ?? String(describing: value)
    }
}

extension Parameters {
    /// Makes the parameters of an address that no pattern matched.
    public init(address: Address, call: [String: any Sendable] = [:]) {
        let isUsual = call.isEmpty && address.rules === RoutingRules.waybill
        self.init(
            text: address.text,
            layout: address.layout,
            names: isUsual ? nil : ParameterNames(rules: address.rules, call: call.isEmpty ? nil : call),
            captures: Captures(),
            route: 0
        )
    }
}

extension Parameters {
    /// The values of the path alone.
    public var path: [String: String] {
        var values: [String: String] = [:]
        guard let names = self.names else { return values }
        for (index, name) in names.names.enumerated() {
            let location = Location(range: self.captured(index), isRest: names.areRests[index])
            values[name] = self.text(at: location)
        }
        return values
    }

    /// The values of the query alone; of several with one name, the one that the conventions choose.
    public var query: [String: String] {
        let firstWins = self.rules.conventions.duplicateQueryNames == .firstWins
        var values: [String: String] = [:]
        for (name, value) in self.address.queryItems where !firstWins || values[name] == nil {
            values[name] = value
        }
        return values
    }

    /// All values as text, each from where it counts.
    public var all: [String: String] {
        let isPathFirst = self.rules.conventions.precedence == .pathBeforeQuery
        var values = self.query
        for (name, value) in self.path where isPathFirst || values[name] == nil { values[name] = value }
        for (name, value) in self.call { values[name] = Self.isNil(value) ? nil : Self.text(of: value) }
        return values
    }

    /// Every value of a name: those of a repeated query item in the order of the URL.
    ///
    /// When the call or the path gives the value, that is the only one.
    public func all(_ name: String) -> [String] {
        if let value = self.names?.call?[name] { return Self.isNil(value) ? [] : [Self.text(of: value)] }
        let items = self.address.queryItems.filter { $0.name == name }.map(\.value)
        if let path = self.locateInPath(name) {
            let isPathFirst = self.rules.conventions.precedence == .pathBeforeQuery
            if isPathFirst || items.isEmpty { return [self.text(at: path)] }
        }
        return items
    }
}

extension Parameters {
    /// The text of the address, without making an address of it.
    @inlinable package var url: String { self.text }

    /// What stands for the parameters of no message, where an optional would be copied.
    @inline(__always)
    package static var none: Self { RouteMatch.none.parameters }

    /// The route that was matched.
    package var routeID: RouteID { RouteID(bits: self.route) }

    /// Whether the address has a fragment.
    package var hasFragment: Bool { self.layout.hasFragment }
}
