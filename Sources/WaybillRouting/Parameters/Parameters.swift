/// What an address, and its caller, say to a handler: one view of the values of path, query and call.
///
/// A value that was passed with the call wins; between path and query the conventions decide, and by default the path
/// wins. Nothing is decoded before it is read.
public struct Parameters: Sendable {
    @usableFromInline let text: String
    @usableFromInline let layout: AddressLayout
    /// Nil when the pattern names nothing and the rules are the usual ones: then there are no references to count.
    @usableFromInline var names: RouteNames?
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
    var rules: AddressRules { self.names?.rules ?? .waybill }

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
        let isUsual = call.isEmpty && address.rules === AddressRules.waybill
        self.init(
            text: address.text,
            layout: address.layout,
            names: isUsual ? nil : RouteNames(rules: address.rules, call: call.isEmpty ? nil : call),
            captures: Captures(),
            route: 0
        )
    }
}
