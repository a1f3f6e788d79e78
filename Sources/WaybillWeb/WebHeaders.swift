#if Web
/// The headers of a response.
public struct WebHeaders: Sendable, Hashable {
    /// One line of them.
    public struct Field: Sendable, Hashable {
        /// The name, as it was written.
        public var name: String

        /// The value.
        public var value: String

        /// Makes a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All fields, in their order.
    public var fields: [Field]

    /// Makes headers.
    public init(_ fields: [Field] = []) { self.fields = fields }

    /// The value of the first field with a name, in any case.
    public subscript(name: String) -> String? { self.all(name).first }

    /// The values of all fields with a name, in any case: `set-cookie` may stand there more than once.
    public func all(_ name: String) -> [String] {
        let name = name.lowercased()
        return self.fields.filter { $0.name.lowercased() == name }.map(\.value)
    }
}
#endif
