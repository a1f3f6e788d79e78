/// What a service is found by: its protocol, and the name of a provider if there are several.
struct ServiceKey: Hashable, Sendable, CustomStringConvertible {
    private let id: ObjectIdentifier
    let typeName: String
    let name: String?

    init(_ type: any Any.Type, _ name: String? = nil) {
        self.id = ObjectIdentifier(type)
        self.typeName = "\(type)"
        self.name = name
    }

    private init(_ id: ObjectIdentifier, _ typeName: String, _ name: String?) {
        self.id = id
        self.typeName = typeName
        self.name = name
    }

    /// The same protocol under another name.
    func with(name: String?) -> Self { Self(self.id, self.typeName, name) }

    func isOfSameType(as other: Self) -> Bool { self.id == other.id }

    var description: String {
        let type = self.typeName.hasPrefix("any ") ? String(self.typeName.dropFirst(4)) : self.typeName
        return self.name.map { "\(type) named \($0)" } ?? type
    }
}
