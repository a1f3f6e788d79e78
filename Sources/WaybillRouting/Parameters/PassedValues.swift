/// The values that are passed with a call, by name.
///
/// If a name occurs more than once, the newest value is used.
///
/// A call passes only a few values. A short list is created and searched in less time than it takes to create
/// a dictionary. Values that are passed as a dictionary stay in this dictionary.
@usableFromInline
package final class PassedValues: Sendable {
    private enum Kind: Sendable {
        case value
        /// A number, which is stored separately because it can be read without a cast.
        case number
        case dictionary
    }

    // The members are separate properties and not associated values, because reading an associated value
    // copies it.
    private let kind: Kind
    private let name: String
    private let number: Int
    private let value: (any Sendable)?
    private let values: [String: any Sendable]
    /// The values that were passed earlier, for names that this object does not contain.
    private let older: PassedValues?

    /// Creates a list with one more value.
    @usableFromInline
    package init(_ name: String, _ value: any Sendable, over older: PassedValues?) {
        (self.kind, self.name, self.number, self.values) = (.value, name, 0, [:])
        self.value = value
        self.older = older
    }

    /// Creates a list with one more number.
    @usableFromInline
    package init(_ name: String, number: Int, over older: PassedValues?) {
        (self.kind, self.name, self.number, self.values) = (.number, name, number, [:])
        self.value = nil
        self.older = older
    }

    private init(_ values: [String: any Sendable], over older: PassedValues?) {
        (self.kind, self.name, self.number, self.values) = (.dictionary, "", 0, values)
        self.value = nil
        self.older = older
    }

    /// Creates a list from the values of a dictionary.
    ///
    /// Returns `older` if the dictionary is empty.
    package static func make(
        _ values: [String: any Sendable],
        over older: PassedValues? = nil
    ) -> PassedValues? {
        values.isEmpty ? older : PassedValues(values, over: older)
    }

    /// Returns the value with a name, or nil when no value has the name.
    package subscript(name: String) -> (any Sendable)? {
        switch self.kind {
        case .value: if self.name == name { return self.value }
        case .number: if self.name == name { return self.number }
        case .dictionary: if let value = self.values[name] { return value }
        }
        // The recursion is short, because lists are short and a lookup usually finds its value here.
        return self.older?[name]
    }

    /// Returns whether a value has the name.
    func has(_ name: String) -> Bool {
        switch self.kind {
        case .value, .number: if self.name == name { return true }
        case .dictionary: if self.values.index(forKey: name) != nil { return true }
        }
        return self.older?.has(name) ?? false
    }

    /// Returns the number with a name.
    ///
    /// Returns `needsText` if the value is not stored as a number, and nil when no value has the name.
    func reading(_ name: String) -> Parameters.IntReading? {
        switch self.kind {
        case .value: if self.name == name { return .needsText }
        case .number: if self.name == name { return .number(self.number) }
        case .dictionary: if self.values[name] != nil { return .needsText }
        }
        return self.older?.reading(name)
    }

    /// All values by name.
    package var dictionary: [String: any Sendable] {
        if self.kind == .dictionary, self.older == nil { return self.values }
        var all = self.older?.dictionary ?? [:]
        switch self.kind {
        case .value: if let value { all[self.name] = value }
        case .number: all[self.name] = self.number
        case .dictionary: all.merge(self.values) { _, new in new }
        }
        return all
    }
}
