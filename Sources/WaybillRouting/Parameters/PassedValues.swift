/// The values that are passed with a call, by name; if a name is repeated, the newest value wins.
///
/// A call passes few values. A short list is created and searched in less time than it takes to create a
/// dictionary. Values that are passed as a dictionary stay in it.
@usableFromInline
package final class PassedValues: Sendable {
    private enum Kind: Sendable {
        case value
        /// A number, which is stored separately because it can be read without a cast.
        case number
        case dictionary
    }

    // The members are separate and not associated values, because those would be copied to be read.
    private let kind: Kind
    private let name: String
    private let number: Int
    private let value: (any Sendable)?
    private let values: [String: any Sendable]
    /// The values that were passed earlier; they are used for names that this object does not have.
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

    /// Creates a list from the values of a dictionary; returns `older` if the dictionary is empty.
    package static func make(
        _ values: [String: any Sendable],
        over older: PassedValues? = nil
    ) -> PassedValues? {
        values.isEmpty ? older : PassedValues(values, over: older)
    }

    /// The value with a name, or nil.
    package subscript(name: String) -> (any Sendable)? {
        switch self.kind {
        case .value: if self.name == name { return self.value }
        case .number: if self.name == name { return self.number }
        case .dictionary: if let value = self.values[name] { return value }
        }
        // The recursion is short, because lists are short and a lookup mostly ends here.
        return self.older?[name]
    }

    /// Returns whether there is a value with a name.
    func has(_ name: String) -> Bool {
        switch self.kind {
        case .value, .number: if self.name == name { return true }
        case .dictionary: if self.values.index(forKey: name) != nil { return true }
        }
        return self.older?.has(name) ?? false
    }

    /// Returns the number with a name, `needsText` if the value is not stored as a number, or nil if there is
    /// no value.
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
