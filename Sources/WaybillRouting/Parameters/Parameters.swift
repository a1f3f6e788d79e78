/// What an address, and its caller, say to a handler: one view of the values of path, query and call.
///
/// A value that was passed with the call wins; between path and query the conventions decide, and by default the path
/// wins. Nothing is decoded before it is read.
public struct Parameters: Sendable {
    let text: String
    let layout: AddressLayout
    let names: RouteNames
    let captures: Captures

    /// The values that were passed with the call.
    public var call: [String: any Sendable]

    /// Makes the parameters of an address that no pattern matched.
    public init(address: Address, call: [String: any Sendable] = [:]) {
        self.text = address.text
        self.layout = address.layout
        self.names = RouteNames(rules: address.rules)
        self.captures = Captures()
        self.call = call
    }

    @inline(__always)
    init(text: String, layout: AddressLayout, names: RouteNames, captures: Captures) {
        self.text = text
        self.layout = layout
        self.names = names
        self.captures = captures
        self.call = [:]
    }

    /// The address that the values come from.
    public var address: Address { Address(text: self.text, layout: self.layout, rules: self.names.rules) }

    /// The same parameters with more values from the call, which win over those that were there.
    public func merging(call: [String: any Sendable]) -> Self {
        var merged = self
        merged.call.merge(call) { _, new in new }
        return merged
    }

    /// The text of a value, or nil when there is none of that name.
    ///
    /// A value that was passed with the call and is not text is described.
    public subscript(name: String) -> String? {
        if !self.call.isEmpty, let value = self.call[name] { return Self.text(of: value) }
        return self.locate(name).map { self.text(at: $0) }
    }

    @usableFromInline
    static func text(of value: any Sendable) -> String {
        value as? String ?? String(describing: value)
    }
}
