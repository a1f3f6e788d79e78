/// The parameters of a message: one view of the values of path, query and call.
///
/// A value passed with the call wins; between path and query the conventions decide, and by default the path
/// wins. Values are decoded when they are read.
public struct Parameters: Sendable {
    /// The text of the address.
    @usableFromInline let text: String
    /// The layout of the text.
    @usableFromInline let layout: AddressLayout
    private var attachment: Attachment
    @usableFromInline let captures: Captures
    /// The bits of the matched ``RouteID``; stored here, so that a match consists of its parameters alone.
    @usableFromInline let route: UInt64

    /// The values that were passed with the call.
    public var call: [String: any Sendable] {
        get { self.passed.map { EncodedValues.plain($0.dictionary) } ?? [:] }
        set { self.attach(.make(newValue)) }
    }

    /// The same values as they were passed: one that came as bytes is an ``EncodedValue``.
    package var passedValues: [String: any Sendable] { self.passed?.dictionary ?? [:] }

    /// A value that was passed with the call, as it was passed.
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

    /// Names and passed values in one word, since most messages have neither, and parameters of one word more
    /// are copied as memory (by the compiler 6.3).
    private enum Attachment: Sendable {
        case nothing
        case names(ParameterNames)
        case passed(PassedValues)
        indirect case both(ParameterNames, PassedValues)

        @inline(__always)
        init(_ names: ParameterNames?, _ passed: PassedValues?) {
            switch (names, passed) {
            case (nil, nil): self = .nothing
            case (let names?, nil): self = .names(names)
            case (nil, let passed?): self = .passed(passed)
            case (let names?, let passed?): self = .both(names, passed)
            }
        }
    }

    /// The names of what the pattern captures; nil when it captures nothing and the rules are the default
    /// ones.
    @inline(__always)
    var names: ParameterNames? {
        get {
            switch self.attachment {
            case .nothing, .passed: nil
            case .names(let names), .both(let names, _): names
            }
        }
        set { self.attachment = Attachment(newValue, self.passed) }
    }

    /// The values that were passed with the call; nil if there are none.
    @inline(__always)
    package var passed: PassedValues? {
        switch self.attachment {
        case .nothing, .names: nil
        case .passed(let passed), .both(_, let passed): passed
        }
    }

    /// The rules by which the address was read.
    var rules: RoutingRules { self.names?.rules ?? .waybill }

    /// The range of a capture.
    @inline(__always)
    func captured(_ index: Int) -> URLRange {
        if index < Captures.capacity { return self.captures[index] }
        return self.names?.overflow[index &- Captures.capacity] ?? URLRange()
    }

    /// The address that the values come from.
    public var address: Address { Address(text: self.text, layout: self.layout, rules: self.rules) }

    /// A copy with more values passed with the call, which win over existing ones.
    public func merging(call: [String: any Sendable]) -> Self {
        var merged = self
        merged.pass(call)
        return merged
    }

    /// Adds values passed with the call, which win over existing ones.
    package mutating func pass(_ call: [String: any Sendable]) { self.attach(.make(call, over: self.passed)) }

    /// Adds values passed with the call, which win over existing ones.
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

    /// The text of a value, or nil when no value has this name.
    ///
    /// A value passed with the call that is not text is described.
    public subscript(name: String) -> String? {
        if let value = self.passedValue(name) { return Self.isNil(value) ? nil : Self.text(of: value) }
        return self.locate(name).map { self.text(at: $0) }
    }

    @usableFromInline
    package static func text(of value: any Sendable) -> String {
        value as? String ?? String(describing: EncodedValues.plain(value))
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

    /// Whether a value of the path has the name of one that is passed.
    package func pathHasName(in passed: PassedValues) -> Bool {
        self.names?.names.contains { passed.has($0) } ?? false
    }

    /// The values of the query alone; the conventions choose among several of one name.
    public var query: [String: String] {
        let firstWins = self.rules.conventions.duplicateQueryNames == .firstWins
        var values: [String: String] = [:]
        for (name, value) in self.address.queryItems where !firstWins || values[name] == nil {
            values[name] = value
        }
        return values
    }

    /// All values as text, by precedence.
    public var all: [String: String] {
        let isPathFirst = self.rules.conventions.precedence == .pathBeforeQuery
        var values = self.query
        for (name, value) in self.path where isPathFirst || values[name] == nil { values[name] = value }
        for (name, value) in self.call { values[name] = Self.isNil(value) ? nil : Self.text(of: value) }
        return values
    }

    /// All values of a name: those of a repeated query item in the order of the URL.
    ///
    /// A value of the call or the path is returned alone.
    public func all(_ name: String) -> [String] {
        if let value = self.passedValue(name) { return Self.isNil(value) ? [] : [Self.text(of: value)] }
        let items = self.address.queryItems.filter { $0.name == name }.map(\.value)
        if let path = self.locateInPath(name) {
            let isPathFirst = self.rules.conventions.precedence == .pathBeforeQuery
            if isPathFirst || items.isEmpty { return [self.text(at: path)] }
        }
        return items
    }
}

extension Parameters {
    /// The text of the address, without creating an `Address`.
    @inlinable package var url: String { self.text }

    /// The value for "no parameters", where an optional would be copied by the runtime.
    @inline(__always)
    package static var none: Self { RouteMatch.none.parameters }

    /// The matched route.
    package var routeID: RouteID { RouteID(bits: self.route) }

    /// Whether the address has a fragment.
    package var hasFragment: Bool { self.layout.hasFragment }
}
