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
