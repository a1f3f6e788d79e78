/// The parameters of a message: the values of the path, the query and the call in a single view.
///
/// A value that is passed with the call takes precedence. The conventions choose between path and query, and
/// by default the path takes precedence. Values are decoded when they are read.
public struct Parameters: Sendable {
    /// The text of the address.
    @usableFromInline let text: String
    @usableFromInline let layout: AddressLayout
    private var attachment: Attachment
    @usableFromInline let captures: Captures
    /// The bits of the matched ``RouteID``; 0 when no route matched.
    ///
    /// The bits are stored here so that a match consists only of its parameters.
    @usableFromInline let route: UInt64

    /// The values that were passed with the call.
    public var call: [String: any Sendable] {
        get { self.passed.map { EncodedValues.plain($0.dictionary) } ?? [:] }
        set { self.attach(.make(newValue)) }
    }

    /// The values that were passed with the call, without conversion.
    ///
    /// A value that was received as bytes is an ``EncodedValue``.
    package var passedValues: [String: any Sendable] { self.passed?.dictionary ?? [:] }

    /// Returns a value that was passed with the call, without conversion.
    @usableFromInline
    package func passedValue(_ name: String) -> (any Sendable)? { self.passed?[name] }

    @inline(__always)
    init(
        text: String,
        layout: AddressLayout,
        names: ParameterNames?,
        passed: PassedValues? = nil,
        captures: Captures,
        route: UInt64
    ) {
        self.text = text
        self.layout = layout
        self.attachment = Attachment(names, passed)
        self.captures = captures
        self.route = route
    }

    /// The names and the passed values in one word.
    ///
    /// Most messages have neither names nor passed values. If the parameters were one word larger, the
    /// compiler (6.3) would copy them in memory.
    private enum Attachment: Sendable {
        case nothing
        case names(ParameterNames)
        case passed(PassedValues)
        indirect case both(ParameterNames, PassedValues)

        init(_ names: ParameterNames?, _ passed: PassedValues?) {
            switch (names, passed) {
            case (nil, nil): self = .nothing
            case (let names?, nil): self = .names(names)
            case (nil, let passed?): self = .passed(passed)
            case (let names?, let passed?): self = .both(names, passed)
            }
        }
    }

    /// The names of the pattern's captures; nil when the pattern captures nothing and the rules are the
    /// default rules.
    var names: ParameterNames? {
        get {
            switch self.attachment {
            case .nothing, .passed: nil
            case .names(let names), .both(let names, _): names
            }
        }
        set { self.attachment = Attachment(newValue, self.passed) }
    }

    /// The values that were passed with the call; nil when no values were passed.
    package var passed: PassedValues? {
        switch self.attachment {
        case .nothing, .names: nil
        case .passed(let passed), .both(_, let passed): passed
        }
    }

    /// The rules with which the address was read.
    var rules: RoutingRules { self.names?.rules ?? .waybill }

    @inline(__always)
    func captured(_ index: Int) -> URLRange {
        if index < Captures.capacity { return self.captures[index] }
        return self.names?.overflow[index &- Captures.capacity] ?? URLRange()
    }

    /// The address that contains the values of path and query.
    public var address: Address { Address(text: self.text, layout: self.layout, rules: self.rules) }

    /// Returns a copy with additional values passed with the call, which replace existing values of the same
    /// name.
    public func merging(call: [String: any Sendable]) -> Self {
        var merged = self
        merged.pass(call)
        return merged
    }

    /// Adds values passed with the call, which replace existing values of the same name.
    package mutating func pass(_ call: [String: any Sendable]) { self.attach(.make(call, over: self.passed)) }

    /// Adds values passed with the call, which replace existing values of the same name.
    @inline(__always)
    package mutating func pass(_ values: PassedValues) {
        guard let passed = self.passed else {
            self.attachment = Attachment(self.names, values)
            return
        }
        self.attach(.make(values.dictionary, over: passed))
    }

    /// Replaces all values passed with the call.
    private mutating func attach(_ values: PassedValues?) {
        self.attachment = Attachment(self.names, values)
    }

    /// Returns the text of a value, or nil when no value has the name.
    ///
    /// If a value that is not text was passed with the call, the result is the description of this value.
    public subscript(name: String) -> String? {
        if let value = self.passedValue(name) { return Self.text(ofOptional: value) }
        return self.locate(name).map { self.text(at: $0) }
    }

    /// Returns the text of a passed value; `nil` for an optional without a value.
    @usableFromInline
    package static func text(of value: any Sendable) -> String { self.text(ofOptional: value) ?? "nil" }

    /// Returns the text of a passed value, or nil for an optional without a value.
    ///
    /// An optional with a value has the text of this value, as the same value has in a URL.
    package static func text(ofOptional value: Any) -> String? {
        if let text = value as? String { return text }
        if let optional = value as? any AnyOptional {
            return optional.content.flatMap { self.text(ofOptional: $0) }
        }
        if let encoded = value as? any EncodedValue { return encoded.text }
        return String(describing: value)
    }
}

extension Parameters {
    /// Creates the parameters of an address that matched no pattern.
    public init(address: Address, call: [String: any Sendable] = [:]) {
        let isUsual = address.rules === RoutingRules.waybill
        self.init(
            text: address.text,
            layout: address.layout,
            names: isUsual ? nil : ParameterNames(rules: address.rules),
            passed: .make(call),
            captures: Captures(),
            route: 0
        )
    }
}

extension Parameters {
    /// The values of the path only.
    public var path: [String: String] {
        var values: [String: String] = [:]
        guard let names = self.names else { return values }
        for (index, name) in names.names.enumerated() {
            let location = Location(range: self.captured(index), isRest: names.areRests[index])
            values[name] = self.text(at: location)
        }
        return values
    }

    /// Returns whether a value of the path has the same name as a passed value.
    package func pathHasName(in passed: PassedValues) -> Bool {
        self.names?.names.contains { passed.has($0) } ?? false
    }

    /// The values of the query only.
    ///
    /// If a name occurs more than once, the conventions choose the value.
    public var query: [String: String] {
        let firstWins = self.rules.conventions.duplicateQueryNames == .firstWins
        var values: [String: String] = [:]
        for (name, value) in self.address.queryItems where !firstWins || values[name] == nil {
            values[name] = value
        }
        return values
    }

    /// All values as text.
    ///
    /// If a name has several values, the value with the highest precedence is used.
    public var all: [String: String] {
        let isPathFirst = self.rules.conventions.precedence == .pathBeforeQuery
        var values = self.query
        for (name, value) in self.path where isPathFirst || values[name] == nil { values[name] = value }
        for (name, value) in self.passedValues { values[name] = Self.text(ofOptional: value) }
        return values
    }

    /// Returns all values of a name.
    ///
    /// The values of a repeated query item are in the order of the URL.
    ///
    /// If the call or the path contains the name, its value is the only element.
    public func all(_ name: String) -> [String] {
        if let value = self.passedValue(name) { return Self.text(ofOptional: value).map { [$0] } ?? [] }
        let items = self.address.queryItems.filter { $0.name.hasSameBytes(as: name) }.map(\.value)
        if let path = self.locateInPath(name) {
            let isPathFirst = self.rules.conventions.precedence == .pathBeforeQuery
            if isPathFirst || items.isEmpty { return [self.text(at: path)] }
        }
        return items
    }
}

extension Parameters {
    /// The text of the address.
    ///
    /// Reading the text does not create an `Address`.
    @inlinable package var url: String { self.text }

    /// Parameters without an address and without values.
    ///
    /// Code uses this value instead of nil, because the runtime would copy an optional.
    package static var none: Self { RouteMatch.none.parameters }

    /// Whether the address has a fragment.
    package var hasFragment: Bool { self.layout.hasFragment }
}
