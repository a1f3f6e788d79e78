/// Values that are passed with a call, by name; of several of one name the newest counts.
///
/// A call passes few values, and a list of few is made and searched in less time than a dictionary is made.
/// What comes as a dictionary stays one.
@usableFromInline
package final class PassedValues: Sendable {
    private enum Kind: Sendable {
        case value
        /// Apart from the others, since it needs no cast to be read.
        case number
        case dictionary
    }

    // Apart, and not in the cases: those would be copied to be looked at.
    private let kind: Kind
    private let name: String
    private let number: Int
    private let value: (any Sendable)?
    private let values: [String: any Sendable]
    /// What was passed before, and counts where this has nothing.
    private let older: PassedValues?

    /// One value more.
    @usableFromInline
    package init(_ name: String, _ value: any Sendable, over older: PassedValues?) {
        (self.kind, self.name, self.number, self.values) = (.value, name, 0, [:])
        self.value = value
        self.older = older
    }

    /// One number more.
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

    /// Values of a dictionary; nil if it is empty and there were none before.
    @inline(__always)
    package static func make(
        _ values: [String: any Sendable],
        over older: PassedValues? = nil
    ) -> PassedValues? {
        values.isEmpty ? older : PassedValues(values, over: older)
    }

    /// The value of a name.
    package subscript(name: String) -> (any Sendable)? {
        switch self.kind {
        case .value: if self.name == name { return self.value }
        case .number: if self.name == name { return self.number }
        case .dictionary: if let value = self.values[name] { return value }
        }
        // A call of itself, since lists are short and mostly end here.
        return self.older?[name]
    }

    /// Whether there is a value of a name.
    func has(_ name: String) -> Bool {
        switch self.kind {
        case .value, .number: if self.name == name { return true }
        case .dictionary: if self.values.index(forKey: name) != nil { return true }
        }
        return self.older?.has(name) ?? false
    }

    /// The number of a name, or that there is another value; nil if there is none.
    func reading(_ name: String) -> Parameters.IntReading? {
        switch self.kind {
        case .value: if self.name == name { return .needsText }
        case .number: if self.name == name { return .number(self.number) }
        case .dictionary: if self.values[name] != nil { return .needsText }
        }
        return self.older?.reading(name)
    }

    /// All of them.
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
