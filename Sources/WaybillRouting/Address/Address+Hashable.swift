extension Address: Hashable {
    /// Whether two addresses mean the same.
    public static func == (left: Self, right: Self) -> Bool {
        left.scheme == right.scheme && left.fragment == right.fragment && left.segments == right.segments
            && left.queryItems.elementsEqual(right.queryItems, by: ==)
    }

    /// Hashes what addresses are compared by.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.scheme)
        hasher.combine(self.segments)
        hasher.combine(self.fragment)
    }
}

extension Address: CustomStringConvertible {
    /// The URL as it was given.
    public var description: String { self.text }
}
